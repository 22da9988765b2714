"""Carries the messages of `billboard silo` and `billboard curator` over mutual TLS 1.3: each end
shows a certificate, and takes the other's only if an authority that both know has made it.

    tls.py curator --at 0.0.0.0:8443 --socket run.sock --certificate C --key K --authority A
    tls.py silo --at joint.example.org:8443 --socket run.sock --certificate C --key K --authority A

The first one runs beside the curator, whose socket it looks for; the second one beside a silo, for
which it makes the socket. One connection of a silo is one connection of TLS.
"""
import argparse
import contextlib
import os
import select
import socket
import ssl
import stat
import sys
import threading
import time

AT_ONCE, MOST = 1 << 16, 1 << 20  # bytes


def context(given):
    of_curator = given.place == "curator"
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if of_curator else ssl.PROTOCOL_TLS_CLIENT)
    tls.minimum_version = ssl.TLSVersion.TLSv1_3
    tls.verify_mode = ssl.CERT_REQUIRED  # of silos, too
    tls.load_verify_locations(given.authority)
    tls.load_cert_chain(given.certificate, given.key)
    return tls


def carry(one, two):
    """Both ways, until one of them ends and the other has what was said."""
    other, left, ended = {one: two, two: one}, {one: b"", two: b""}, False
    for end in other:
        end.setblocking(False)
    while not ended or any(left.values()):
        full = [end for end in other if left[end]]
        ready = [end for end in other if len(left[other[end]]) < MOST and not ended]
        select.select(ready, full, [], 1.0)
        for end in ready:  # TLS may have read what select does not see
            with contextlib.suppress(BlockingIOError, ssl.SSLWantReadError):
                said = end.recv(AT_ONCE)
                ended = ended or not said
                left[other[end]] += said
        for end in full:
            with contextlib.suppress(BlockingIOError, ssl.SSLWantWriteError):
                left[end] = left[end][end.send(left[end]):]


def meet(given, address, tls, near):
    """One who has come, with whom he came for."""
    with near, contextlib.ExitStack() as stack:
        try:
            if given.place == "curator":
                near.settimeout(30)
                near = stack.enter_context(tls.wrap_socket(near, server_side=True))
                far = stack.enter_context(socket.socket(socket.AF_UNIX))
                far.connect(given.socket)
            else:
                far = stack.enter_context(socket.create_connection(address, 30))
                far = stack.enter_context(tls.wrap_socket(far, server_hostname=address[0]))
            carry(near, far)
        except OSError as error:
            print(f"tls.py: {given.at}: {error}", file=sys.stderr, flush=True)
            time.sleep(1)  # who is refused comes again


def listen(path):
    os.umask(0o177)  # only this user may open it
    if os.path.exists(path) and stat.S_ISSOCK(os.stat(path).st_mode):
        os.unlink(path)  # of one that was killed
    door = socket.socket(socket.AF_UNIX)
    door.bind(path)
    door.listen()
    return door


parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
parser.add_argument("place", choices=["curator", "silo"])
for name, what in [("at", "HOST:PORT to listen at, or to connect to"),
                   ("socket", "the curator's, or the one to make for the silo"),
                   ("certificate", "of this place, PEM"), ("key", "its private key, PEM"),
                   ("authority", "whose certificates are taken, PEM")]:
    parser.add_argument(f"--{name}", required=True, help=what)
asked = parser.parse_args()
try:
    host, port = asked.at.rsplit(":", 1)
    at, by = (host, int(port)), context(asked)
    with socket.create_server(at) if asked.place == "curator" else listen(asked.socket) as door:
        while True:
            who = (asked, at, by, door.accept()[0])
            threading.Thread(target=meet, args=who, daemon=True).start()
except (OSError, ValueError) as error:
    sys.exit(f"tls.py: {error}")
except KeyboardInterrupt:
    sys.exit(130)
