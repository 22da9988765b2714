#!/usr/bin/env python3
"""Draws docs/experiments/femnist.svg from the lines of bench/femnist.sh on stdin, parts private
and curve: test accuracy over epsilon, mean of the seeds with a bar from least to most."""
import math
import re
import sys
from collections import defaultdict

# Colour, and how far below its last point the name stands.
METHODS = {"fedavg, guard": ("#1f6f8b", 4), "fedavg then pmtl": ("#5b7f2b", 12),
           "pmtl": ("#c0582b", 14), "fedavg": ("#7a4fa3", -8)}
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 360, 56, 130, 20, 46
LOW, HIGH = 0.50, 0.70


def read(lines):
    runs, alone = defaultdict(list), []
    for line in lines:
        name, accuracy = line.split("\t")[:2]
        found = re.fullmatch(r"(.*), eps ([0-9.]+), seed \d+", name)
        if found:
            runs[found[1], float(found[2])].append(float(accuracy))
        elif re.fullmatch(r"alone, seed \d+", name):
            alone.append(float(accuracy))
    return runs, sum(alone) / len(alone)


def main():
    runs, alone = read(sys.stdin)
    epsilons = sorted({epsilon for _, epsilon in runs})
    least, most = math.log(epsilons[0]), math.log(epsilons[-1])

    def x(epsilon):
        return LEFT + (math.log(epsilon) - least) / (most - least) * (WIDTH - LEFT - RIGHT)

    def y(accuracy):
        return TOP + (HIGH - accuracy) / (HIGH - LOW) * (HEIGHT - TOP - BOTTOM)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
           'font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for k in range(5):
        value = LOW + k * (HIGH - LOW) / 4
        out.append(f'<path d="M{LEFT} {y(value):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end">'
                   f'{value:.2f}</text>')
    for epsilon in epsilons:
        out.append(f'<text x="{x(epsilon):.1f}" y="{HEIGHT - BOTTOM + 18}" '
                   f'text-anchor="middle">{epsilon:g}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" '
               'text-anchor="middle">epsilon (delta = 1e-5, replace-one)</text>'
               f'<path d="M{LEFT} {y(alone):.1f}H{WIDTH - RIGHT}" stroke="black" '
               'stroke-dasharray="4 4"/>'
               f'<text x="{WIDTH - RIGHT + 8}" y="{y(alone) + 4:.1f}">alone</text>')
    for method, (colour, below) in METHODS.items():
        points = [(e, runs[method, e]) for e in epsilons if runs.get((method, e))]
        if not points:
            continue
        at = [(x(e), y(sum(v) / len(v))) for e, v in points]
        line = "L".join(f"{a:.1f} {b:.1f}" for a, b in at)
        out.append(f'<path d="M{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for (a, b), (_, v) in zip(at, points):
            out.append(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>'
                       f'<path d="M{a:.1f} {y(max(v)):.1f}V{y(min(v)):.1f}" '
                       f'stroke="{colour}"/>')
        a, b = at[-1]
        out.append(f'<text x="{a + 8:.1f}" y="{b + below:.1f}" fill="{colour}">{method}</text>')
    print("\n".join(out + ["</svg>"]))


main()
