"""Google's dp-accounting on the questions of bench_account, whose lines come from standard
input; prints both side by side. The peer's grid of losses is its default, 1e-4.

    bench_account | account.py        with dp-accounting from PyPI, see account.sh
"""
import statistics
import sys
import time

import dp_accounting
from dp_accounting import dp_event, pld, rdp

ADD = dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE
REPLACE = dp_accounting.NeighboringRelation.REPLACE_ONE


def event(q, sigma, rounds):
    gaussian = dp_event.GaussianDpEvent(sigma)
    once = dp_event.PoissonSampledDpEvent(q, gaussian) if q < 1 else gaussian
    return dp_event.SelfComposedDpEvent(once, rounds)


def epsilon(accountant, delta, *what):
    return accountant.compose(event(*what)).get_epsilon(delta)


TIMES = {
    "typical": lambda: epsilon(pld.PLDAccountant(ADD), 1e-5, 0.01, 1.0, 1000),
    "long": lambda: epsilon(pld.PLDAccountant(ADD), 1e-5, 0.01, 5.0, 100000),
    "replace-one": lambda: epsilon(pld.PLDAccountant(REPLACE), 1e-5, 0.01, 1.0, 1000),
    "renyi": lambda: epsilon(rdp.RdpAccountant(neighboring_relation=ADD), 1e-5, 0.01, 1.0, 1000),
    "calibration": lambda: dp_accounting.calibrate_dp_mechanism(
        lambda: pld.PLDAccountant(ADD), lambda s: event(0.01, s, 1000), 2.0, 1e-5,
        dp_accounting.ExplicitBracketInterval(0.5, 4.0)),
}
VALUES = {"gaussian": (1.0, 50.0, 1000), "typical": (0.01, 1.0, 1000),
          "long": (0.01, 5.0, 100000), "many": (0.01, 1.0, 100000),
          "rare": (1e-5, 1.0, 100000)}


def compare_time(name, ours, value):
    if name not in TIMES:
        print(f"| {name} | {ours:.2f} | {value:.9g} | none | | |")
        return
    seconds = []
    for _ in range(3):
        start = time.process_time()
        theirs = TIMES[name]()
        seconds.append(time.process_time() - start)
    peer = 1e3 * statistics.median(seconds)
    print(f"| {name} | {ours:.2f} | {value:.9g} | {peer:.0f} | {theirs:.9g} | {peer / ours:.0f} |",
          flush=True)


def compare_value(name, delta, lower, upper, truth):
    theirs = epsilon(pld.PLDAccountant(ADD), delta, *VALUES[name])
    verdict = f"{theirs / upper - 1:+.1e}" + (", too low" if theirs < lower else "")
    true = f"{truth:.9g}" if truth == truth else ""
    print(f"| {name} | {delta:g} | {true} | {lower:.9g} | {upper:.9g} | {theirs:.9g} | {verdict} |",
          flush=True)


header = {"time": "| question | ms | answer | peer, ms | its answer | peer / ours |",
          "value": "| composition | delta | truth | lower | upper | peer | against upper |"}
before = None
for line in sys.stdin:
    kind, name, *numbers = line.split()
    if kind != before:
        before = kind
        print(f"\n{header[kind]}\n|{'---|' * (header[kind].count('|') - 1)}")
    (compare_time if kind == "time" else compare_value)(name, *map(float, numbers))
