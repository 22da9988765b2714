"""A guest in somebody's process: threads, Ctrl-C, forks, memory."""

import _thread
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import billboard


def model_of(pop, k=0, **more):
    return billboard.MultiTaskRegressor("stl", method_params={"lambda": 10.0**-(k % 4)},
                                        **more).fit(pop.X, pop.y, pop.groups)


def test_eight_fits_at_once(pop):
    alone = [model_of(pop, k, n_jobs=2).report_.models_sha256 for k in range(8)]
    found = [None] * 8

    def work(k):
        found[k] = model_of(pop, k, n_jobs=2).report_.models_sha256
    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == alone


def long_fit(**more):
    """Would take minutes."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (40000, 30))
    model = billboard.MultiTaskRegressor(
        "fedavg", options={"mechanism": "none"}, rounds=100000,
        **more)
    return model.fit(X / 6, X[:, 0], groups=np.arange(40000) % 200)


def test_others_go_on_meanwhile():
    """A fit holds no lock of Python's."""
    stop, counted = threading.Event(), 0

    def progress(what, done, all):
        if stop.is_set():
            raise RuntimeError("enough")

    def work():
        with pytest.raises(RuntimeError, match="enough"):
            long_fit(progress=progress)
    thread = threading.Thread(target=work)
    thread.start()
    for _ in range(20):
        time.sleep(0.01)
        counted += 1
    stop.set()
    thread.join()
    assert counted == 20


def test_progress_is_told(pop):
    told = []
    billboard.MultiTaskRegressor("fedavg", rounds=5, options={"mechanism": "none"},
                                 progress=lambda *what: told.append(what)).fit(
                                     pop.X / 2, pop.y, pop.groups)
    rounds = 5 + 1  # and the vote on fits at home
    assert [done for what, done, all in told
            if what == "round" and all == rounds] == list(range(1, rounds + 1))


INTERRUPTED = """
import sys; sys.path.insert(0, {path!r})
from test_process import long_audit, long_fit
started = []
def progress(what, done, all):
    if not started:
        started.append(True)
        print("training", flush=True)
try:
    {call}(progress=progress)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def long_audit(**more):
    """Would take minutes."""
    billboard.audit(trials=20_000_000, **more)


@pytest.mark.parametrize("call", ["long_fit", "long_audit"])
def test_ctrl_c_ends_it(call):
    code = INTERRUPTED.format(path=os.path.dirname(__file__), call=call)
    process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", code], text=True,
                               stdout=subprocess.PIPE)
    assert process.stdout.readline() == "training\n"
    process.send_signal(signal.SIGINT)
    try:
        said = process.communicate(timeout=60)[0]
    finally:
        process.kill()
    assert said == "interrupted\n" and process.returncode == 0


def test_interrupt_main_ends_it():
    """As notebooks and shells do that send no signal: it wakes nobody who waits."""
    begun = threading.Event()

    def interrupt():
        begun.wait()
        _thread.interrupt_main()
    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        long_fit(progress=lambda *_: begun.set())
    thread.join()


def fit_elsewhere(k):
    from conftest import Population
    return model_of(Population(), k, n_jobs=2).report_.models_sha256


@pytest.mark.parametrize("how", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fork_and_spawn(pop, how, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(
        [os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.syspath_prepend(os.path.dirname(__file__))
    here = [model_of(pop, k, n_jobs=2).report_.models_sha256 for k in range(3)]
    with multiprocessing.get_context(how).Pool(2) as pool:
        assert pool.map_async(fit_elsewhere, range(3)).get(timeout=300) == here


def resident():
    with open("/proc/self/statm", encoding="utf-8") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_thousand_fits_keep_nothing(pop):
    few = pop.groups < 15
    X, y, groups = pop.X[few], pop.y[few], pop.groups[few]

    def fits(count):
        for _ in range(count):
            model = billboard.MultiTaskRegressor("stl").fit(X, y, groups)
            model.predict(X, groups)
    fits(100)
    before = resident()
    fits(1000)
    assert resident() - before < 4 << 20


def test_nothing_is_left_in_the_environment():
    code = ("import subprocess, sys, numpy, billboard\n"
            "print(subprocess.run(['env'], capture_output=True, text=True).stdout)")
    clean = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "PYTHONPYCACHEPREFIX")
             if name in os.environ}
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True,
                          text=True, env=clean).stdout
    assert "OPENBLAS" not in said
