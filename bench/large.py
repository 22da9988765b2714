#!/usr/bin/env python3
"""Populations that memory does not hold: `billboard train FILE.bb --memory`, most memory and
seconds, beside what the disk and the memory of this machine give.

  bench/large.py BUILD TASKSxROWSxFEATURES... [--method NAME[,NAME...]] [--memory BYTES]
                 [--threads N] [--float32] [--folder FOLDER] [-- FLAG...]

The file is written as docs/data-formats.md describes it, by this script alone. Beside it
there is room needed for two to three times its size (TMPDIR is set to FOLDER). NumPy."""

import argparse
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
import zlib

import numpy as np  # of which no arrays are made in the main process

BLOCK, PAGE = 1 << 24, 4096


class Section:
    """What is written behind each other, with a checksum of every 16 MiB."""

    def __init__(self, file):
        file.write(b"\0" * (-file.tell() % PAGE))
        self.file, self.at, self.bytes, self.crc, self.sums = file, file.tell(), 0, 0, []

    def write(self, data):
        data = memoryview(data).cast("B")
        while len(data):
            part = data[:BLOCK - self.bytes % BLOCK]
            self.crc = zlib.crc32(part, self.crc)
            self.file.write(part)
            self.bytes += len(part)
            data = data[len(part):]
            if self.bytes % BLOCK == 0:
                self.sums.append(self.crc)
                self.crc = 0

    def about(self):
        sums = self.sums + ([self.crc] if self.bytes % BLOCK else [])
        return {"at": self.at, "bytes": self.bytes, "crc32": sums}


def write_file(path, m, n, d, single):
    """m tasks of n rows of norm 1/2 or so, and d features, around one centre."""
    rng = np.random.default_rng(1)
    kind = np.float32 if single else np.float64
    centre = rng.standard_normal(d) / np.sqrt(d)
    step = max(1, 1_000_000 // (n * d))
    low, high, target = np.full(d, np.inf), np.full(d, -np.inf), []
    with open(path + ".part", "wb") as file:
        file.write(b"\0" * 64)
        x = Section(file)
        for first in range(0, m, step):
            k = min(step, m - first)
            X = (rng.standard_normal((k, n, d), dtype=np.float32) / (2 * np.sqrt(d))).astype(kind)
            w = 2 * np.sqrt(d) * (centre + 0.3 * rng.standard_normal((k, d)) / np.sqrt(d))
            target.append(np.einsum("knd,kd->kn", X, w).ravel()
                          + 0.5 * rng.standard_normal(k * n))
            low, high = np.minimum(low, X.min((0, 1))), np.maximum(high, X.max((0, 1)))
            x.write(X)
        y = Section(file)
        for part in target:
            y.write(part)
        starts = Section(file)
        starts.write(np.arange(0, m * n + 1, n, dtype=np.uint64))
        names = Section(file)
        for first in range(0, m, 100_000):
            names.write("".join(f"t{i}\0" for i in range(first, min(m, first + 100_000))).encode())
        footer = json.dumps({
            "tasks": m, "rows": m * n, "features": d, "entries": 0, "listed": 0,
            "name_bytes": names.bytes, "labels": 0, "type": "float32" if single else "float64",
            "sparse": False, "features_public": True, "binary": 0, "image": None, "target": "y",
            "feature_name": [f"x{k}" for k in range(d)],
            "statistics": {"column_least": low.tolist(), "column_most": high.tolist(),
                           "target_least": float(min(map(np.min, target))),
                           "target_most": float(max(map(np.max, target)))},
            "sections": {"names": names.about(), "first": starts.about(), "target": y.about(),
                         "x": x.about()}}).encode()
        at = file.tell()
        file.write(footer)
        head = (b"\x89BBD\r\n\x1a\n" + (1).to_bytes(4, "little") + bytes(4)
                + at.to_bytes(8, "little") + len(footer).to_bytes(8, "little")
                + zlib.crc32(footer).to_bytes(4, "little"))
        file.seek(0)
        file.write(head + zlib.crc32(head).to_bytes(4, "little"))
        file.flush()
        os.fsync(file.fileno())
    os.rename(path + ".part", path)


def disk_speed(path, most=4 << 30):
    """Bytes a second of reading what is not in the system's cache."""
    with open(path, "rb", buffering=0) as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        room, seen, start = bytearray(8 << 20), 0, time.perf_counter()
        while seen < most and (got := file.readinto(room)):
            seen += got
        return seen / (time.perf_counter() - start)


def memory_speed():
    """Bytes a second that one core adds up."""
    numbers = np.ones(1 << 27)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        numbers.sum()
        times.append(time.perf_counter() - start)
    return numbers.nbytes / min(times)


def apart(function, *arguments):
    """In a process of its own: what it had in memory would count as the program's."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(function, arguments)


def train(arguments, data, method, flags):
    run = data + ".run"
    shutil.rmtree(run, ignore_errors=True)
    command = [f"{arguments.build}/billboard", "train", data, "-o", run, "--method", method,
               "--epsilon", "1", "--seed", "1", "--threads", str(arguments.threads), *flags]
    if arguments.memory:
        command += ["--memory", str(arguments.memory)]
    start = time.perf_counter()
    child = subprocess.Popen(command, env={**os.environ, "TMPDIR": arguments.folder},
                             stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    if status:
        sys.exit(f"{' '.join(command)} failed")
    with open(os.path.join(run, "operator", "run.json")) as file:
        about = json.load(file)
    with open(os.path.join(run, "public", "billboard.json")) as file:
        rounds = len(json.load(file)["releases"])
    shutil.rmtree(run)
    return wall, usage, about, rounds


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("size", nargs="+", help="TASKSxROWSxFEATURES")
    parser.add_argument("--method", default="mp-mixed,mp-prior,fedprox")
    parser.add_argument("--memory", type=int, default=1 << 30, help="0: all in memory")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--float32", action="store_true")
    parser.add_argument("--folder", default=os.environ.get("TMPDIR", "/var/tmp"))
    words = sys.argv[1:]
    cut = words.index("--") if "--" in words else len(words)
    arguments, flags = parser.parse_args(words[:cut]), words[cut + 1:]
    print(f"memory {1e-9 * apart(memory_speed):.1f} GB/s, one core; load "
          f"{' '.join(f'{x:.1f}' for x in os.getloadavg())}")
    print("| tasks × rows × features | file, GB | method | rounds | reading, s | training, s | all, s "
          "| of processors, s | most memory, GiB | rows, GB/s | read from disk, GB/s |")
    print("|---" * 11 + "|", flush=True)
    for size in arguments.size:
        m, n, d = map(int, size.split("x"))
        data = os.path.join(arguments.folder, f"large-{size}{'-f32' if arguments.float32 else ''}.bb")
        if not os.path.exists(data):
            apart(write_file, data, m, n, d, arguments.float32)
        disk = apart(disk_speed, data)
        for method in arguments.method.split(","):
            wall, usage, about, rounds = train(arguments, data, method, flags)
            seconds = about["seconds"] if "seconds" in about else {}
            solve = seconds.get("solve", wall)
            rows = 8e-9 * m * n * (d + 1) * (rounds + 2) / solve
            print(f"| {m:,} × {n} × {d} | {1e-9 * os.path.getsize(data):.1f} | `{method}` | {rounds} "
                  f"| {seconds.get('read', 0):.1f} | {solve:.1f} | {wall:.1f} "
                  f"| {usage.ru_utime + usage.ru_stime:.1f} | {usage.ru_maxrss / (1 << 20):.2f} "
                  f"| {rows:.1f} | {1e-9 * disk:.1f} |", flush=True)


if __name__ == "__main__":
    main()
