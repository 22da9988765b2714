#!/usr/bin/env python3
"""How long `billboard methods` takes, which does next to nothing, and what it would take if
the libraries that are loaded on first use were linked: the same program, in turn, with them
preloaded. Medians of 51.

  bench/startup.py BILLBOARD [OTHER...]

OTHER: further programs, such as an older one, in the same turns."""

import os
import statistics
import subprocess
import sys
import time

RUNS = 51
PARTS = "libmatio.so.11 libdnnl.so.2"  # of Debian 12


def measure(program, environment):
    start = time.perf_counter()
    child = subprocess.Popen([program, "methods"], env=environment,
                             stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{program} methods failed")
    return (1e3 * (time.perf_counter() - start), 1e3 * (usage.ru_utime + usage.ru_stime),
            usage.ru_maxrss / 1024)


def libraries(program, environment):
    """As ldd counts them, and the bytes of their files."""
    lines = subprocess.run([program], env={**environment, "LD_TRACE_LOADED_OBJECTS": "1"},
                           capture_output=True, text=True, check=True).stdout.splitlines()
    paths = [word for line in lines for word in line.split() if word.startswith("/")]
    return len(lines), sum(os.path.getsize(path) for path in paths) / 1e6


def main():
    plain = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    whole = {**plain, "LD_PRELOAD": PARTS}
    cases = [("as it is", sys.argv[1], plain), ("all linked", sys.argv[1], whole)]
    cases += [(other, other, plain) for other in sys.argv[2:]]
    seen = [[] for _ in cases]
    for _ in range(RUNS):
        for k, (_, program, environment) in enumerate(cases):
            seen[k].append(measure(program, environment))
    first = None
    for (name, program, environment), runs in zip(cases, seen):
        wall, processor, memory = (statistics.median(column) for column in zip(*runs))
        first = first or (wall, processor)
        count, size = libraries(program, environment)
        print(f"{name}: {wall:.1f} ms, of them processor {processor:.1f}, memory {memory:.1f} MiB, "
              f"{count} libraries, {size:.0f} MB; over the first "
              f"{wall / first[0]:.2f}, {processor / first[1]:.2f}")


if __name__ == "__main__":
    main()
