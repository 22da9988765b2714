#!/usr/bin/env python3
"""Whether the hot kernels take more instructions than they did.

    check.py COUNTS COMPILER FILE            compares with FILE; fails beyond 10 % more
    check.py COUNTS COMPILER FILE --renew    writes FILE

COUNTS is the program of counts.c, which valgrind counts (callgrind: exact, whatever else the
machine does). FILE has instructions as multiples of a reference loop counted in the same run,
behind what the counts depend on: compiler, instruction set, OpenBLAS's kernels. Where that is
another, the test counts as skipped."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

MORE, LESS, SKIPPED = 1.10, 0.80, 77


def count(program):
    """What the program says of itself, and the instructions of every count_NAME."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}",
                               "--compress-strings=no", "--compress-pos=no", program],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"valgrind {program} failed:\n{done.stderr[-2000:]}")
        cost, called = {}, None
        with open(out) as file:
            for line in file:
                if line.startswith("cfn="):
                    called = line[4:].strip()
                elif line.startswith("calls="):
                    inclusive = int(next(file).split()[1])
                    if called.startswith("count_"):
                        cost[called[6:]] = cost.get(called[6:], 0) + inclusive
    reference = cost.pop("reference")
    return done.stdout.split("\n")[0], {name: n / reference for name, n in cost.items()}


def version_of(compiler):
    """As 12 of 12.2.0: patches of a compiler hardly matter, others may."""
    done = subprocess.run([compiler, "--version"], stdout=subprocess.PIPE, text=True, check=True)
    name = "clang" if "clang" in done.stdout else "gcc"
    return name + " " + re.search(r" (\d+)\.", done.stdout).group(1)


def read(path):
    with open(path) as file:
        lines = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return " ".join(lines[0]), {name: float(value) for name, value in lines[1:]}


def main():
    program, compiler, path = sys.argv[1:4]
    if not shutil.which("valgrind"):
        print("no valgrind")
        return SKIPPED
    kernels, found = count(program)
    where = f"{version_of(compiler)} {kernels}"
    if "--renew" in sys.argv:
        with open(path, "w") as file:
            file.write("# Instructions over those of the reference loop; tests/counts/check.py\n")
            file.write(f"{where}\n" + "".join(f"{k} {v:.5g}\n" for k, v in found.items()))
        return 0
    stored_where, stored = read(path)
    if where != stored_where:
        print(f"counted with {stored_where}, here is {where}")
        return SKIPPED
    if stored.keys() != found.keys():
        sys.exit(f"{path} has others: {sorted(stored.keys() ^ found.keys())}; renew it")
    worse = 0
    for name, value in found.items():
        ratio = value / stored[name]
        worse += ratio > MORE
        note = "  TOO MANY" if ratio > MORE else "  renew the file" if ratio < LESS else ""
        print(f"{name:16} {stored[name]:9.4g} {value:9.4g} {ratio:6.3f}{note}")
    if worse:
        print(f"More than {MORE:g} times the instructions. If that is meant, ninja -C BUILD "
              "renew_counts (or make renew_counts there)")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
