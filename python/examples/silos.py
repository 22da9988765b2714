"""Two hospitals and a curator, a process each, over pipes: no row leaves its process.

    python silos.py

Every process of a real federation is a program of its own, with its part of this one: frames are
bytes, and a pipe stands for whatever carries them.
"""

import multiprocessing
import warnings

import numpy as np

import billboard
from billboard.silo import Curator, Policy, Roster, Silo, State

# What all have agreed on: clinics by pseudonym, columns, public ranges, the promise.
CLINICS = [f"clinic-{k:02d}" for k in range(40)]
ROSTER = Roster(CLINICS, features=["age", "dose"], silos=2)
AGREED = billboard.MultiTaskRegressor(
    "mp-mixed", epsilon=2, delta=1e-5,
    bounds=billboard.Bounds({"age": (0, 100), "dose": (0, 10)}, target=(-5, 5)))


def own_rows(number):
    """What only this hospital has: every second clinic, 12 patients each."""
    import pandas
    rng = np.random.default_rng(number)
    clinics = CLINICS[number - 1::2]
    clinic = np.repeat(clinics, 12)
    rows = pandas.DataFrame({"age": rng.uniform(20, 90, len(clinic)).round(),
                             "dose": rng.uniform(0, 10, len(clinic)).round(1)})
    effect = np.repeat(0.3 + 0.1 * rng.standard_normal(len(clinics)), 12)
    rows["gain"] = (effect * (rows["dose"] - 5) + 0.3 * rng.standard_normal(len(rows))).clip(-5, 5)
    return rows[["age", "dose"]], rows["gain"], clinic


def hospital(number, pipe, results):
    X, y, clinic = own_rows(number)
    silo = Silo(AGREED, ROSTER, number, X, y, clinic,
                policy=Policy(most_epsilon=2, fewest_groups=30, methods=["mp-mixed"]))
    while not silo.done:
        answer = silo.answer(pipe.recv_bytes())
        if answer is not None:
            pipe.send_bytes(answer)
    model = silo.result()  # models of this hospital's clinics, and of no other
    results.put((number, len(model.groups_), model.score(X, y, clinic)))


def conduct(pipes):
    curator = Curator(AGREED, ROSTER)
    while True:
        for number, frame in curator.frames():
            pipes[number - 1].send_bytes(frame)
        if curator.done:
            return curator.result()
        while curator.state is State.WAITS:
            ready = multiprocessing.connection.wait(pipes, timeout=60)
            for pipe in ready:
                curator.take(pipe.recv_bytes())
        curator.advance()


def main():
    warnings.simplefilter("ignore", billboard.BillboardWarning)
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    pipes, processes = [], []
    for number in (1, 2):
        here, there = context.Pipe()
        processes.append(context.Process(target=hospital, args=(number, there, results)))
        processes[-1].start()
        there.close()
        pipes.append(here)
    public = conduct(pipes)
    for number, clinics, score in sorted(results.get(timeout=60) for _ in processes):
        print(f"hospital {number} has models of {clinics} clinics, R² {score:.2f} on their rows")
    for process in processes:
        process.join()
    print(public.privacy_)


if __name__ == "__main__":
    main()
