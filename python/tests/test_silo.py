"""One run in several places: the bytes of one fit, over a transport of the caller's."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import billboard
from billboard.silo import Curator, Policy, Roster, Silo, State

OPEN = Policy(allow_open=True)


def place(agreed, pop, number, target="y", silos=2, **more):
    """The silo with every second school."""
    own = pop.groups % silos == number - 1
    return Silo(agreed, roster_of(pop, silos), number, pop.X[own], getattr(pop, target)[own],
                pop.groups[own], **more)


def roster_of(pop, silos=2, **more):
    return Roster(np.unique(pop.groups), features=pop.X.shape[1], silos=silos, **more)


def carry(curator, silos, lose=()):
    while not curator.done:
        for number, frame in curator.frames():
            if number in lose:
                continue
            answer = silos[number].answer(frame)
            if answer is not None:
                curator.take(answer)
        if lose and curator.state is State.WAITS:
            curator.close_round()
        curator.advance()


RUNS = [(billboard.MultiTaskRegressor, "fedprox", "y", {"rounds": 3}),
        (billboard.MultiTaskRegressor, "mp-mixed", "y", {}),
        (billboard.MultiTaskClassifier, "mp-centre", "binary", {}),
        (billboard.MultiTaskClassifier, "fedavg", "classes", {"classes": [0, 1, 2], "rounds": 2})]


@pytest.mark.parametrize("kind,method,target,more", RUNS)
def test_places_have_the_bytes_of_one_fit(pop, bounds, kind, method, target, more):
    agreed = kind(method, epsilon=2, bounds=bounds, random_state=5, **more)
    whole = kind(method, epsilon=2, bounds=bounds, random_state=5, **more).fit(
        pop.X, getattr(pop, target), pop.groups)
    silos = {n: place(agreed, pop, n, target, policy=OPEN) for n in (1, 2)}
    curator = Curator(agreed, roster_of(pop))
    carry(curator, silos)
    public = curator.result()
    assert public.report_.billboard_sha256 == whole.report_.billboard_sha256
    assert public.groups_.size == 0 and not public.privacy_.is_private
    if whole.shared_ is not None:
        assert np.array_equal(public.shared_.coef, whole.shared_.coef)
    for number, silo in silos.items():
        own = pop.groups % 2 == number - 1
        model = silo.result()
        assert model.groups_.tolist() == np.unique(pop.groups[own]).tolist()
        assert np.array_equal(model.predict(pop.X[own], pop.groups[own]),
                              whole.predict(pop.X[own], pop.groups[own]))
        with pytest.raises(ValueError, match="unknown groups"):
            model.predict(pop.X[~own][:1], pop.groups[~own][:1])
    with pytest.raises(billboard.BillboardError):
        silos[1].result()


def test_private_places(pop, bounds, tmp_path):
    """Each place has its own ledger; all make the same promise."""
    agreed = billboard.MultiTaskRegressor("mp-prior", epsilon=2, bounds=bounds)
    ledgers = [billboard.Ledger(tmp_path / f"{k}", epsilon=3, delta=1e-3) for k in range(3)]
    for refused in (False, True):
        curator = Curator(agreed.set_params(ledger=ledgers[0]), roster_of(pop))
        silos = {n: place(agreed.set_params(ledger=ledgers[n]), pop, n,
                          policy=Policy(most_epsilon=2, fewest_groups=60)) for n in (1, 2)}
        if refused:
            with pytest.raises(billboard.BudgetError, match="left"):
                carry(curator, silos)
            continue
        carry(curator, silos)
        for made in (curator.result(), silos[1].result(), silos[2].result()):
            assert repr(made.privacy_) == \
                "Privacy(ε = 2 at δ = 1e-05, replace-one, sampling all)"
    assert [ledger.spent()[0] for ledger in ledgers] == [2, 2, 2]


def test_policies_refuse(pop, bounds):
    agreed = billboard.MultiTaskRegressor("mp-prior", epsilon=2, bounds=bounds)
    offer = dict(Curator(agreed, roster_of(pop)).frames())[1]
    for policy in (Policy(most_epsilon=1), Policy(fewest_groups=61), Policy(fewest_silos=3),
                   Policy(methods=["fedprox", "stl"]), Policy(adjacencies=["add-remove"])):
        with pytest.raises(billboard.BillboardError):
            place(agreed, pop, 1, policy=policy).take(offer)
    with pytest.raises(billboard.BillboardError, match="no method"):
        place(agreed, pop, 1, policy=Policy(methods=["fedprix"]))
    with pytest.raises(billboard.BillboardError):
        place(agreed.set_params(random_state=1), pop, 1).take(offer)
    assert repr(Policy(most_epsilon=1)) == "Policy(most_epsilon=1)"


def test_frames_that_are_none(pop, bounds):
    agreed = billboard.MultiTaskRegressor("mp-prior", epsilon=2, bounds=bounds)
    curator, silo = Curator(agreed, roster_of(pop)), place(agreed, pop, 1)
    offer = curator.give(1)
    for wrong in (b"", b"nonsense", offer[:-1], offer[:20] + b"!" + offer[21:]):
        with pytest.raises(billboard.BillboardError):
            silo.take(wrong)
        with pytest.raises(billboard.BillboardError):
            curator.take(wrong)
    other = place(billboard.MultiTaskRegressor("mp-prior", epsilon=1, bounds=bounds), pop, 1)
    with pytest.raises(billboard.BillboardError, match="epsilon"):
        other.take(offer)
    assert silo.answer(offer) and silo.state is State.WAITS
    with pytest.raises(billboard.BillboardError, match="roster|task"):
        Silo(agreed, Roster([1, 2], features=3, silos=1), 1, pop.X, pop.y, pop.groups)
    with pytest.raises(ValueError, match="one for each of 2 groups"):
        Roster([1, 2], features=3, silos=1, clusters=[0])


def test_places_survive_their_processes(pop, bounds):
    """Every place is saved, thrown away and made again in every round."""
    agreed = billboard.MultiTaskRegressor("fedprox", epsilon=2, bounds=bounds, random_state=5,
                                          rounds=3)
    whole = billboard.MultiTaskRegressor("fedprox", epsilon=2, bounds=bounds, random_state=5,
                                         rounds=3).fit(pop.X, pop.y, pop.groups)
    curator, silos = Curator(agreed, roster_of(pop)), {}
    for n in (1, 2):
        silos[n] = place(agreed, pop, n, policy=OPEN)
    while not curator.done:
        for number, frame in curator.frames():
            answer = silos[number].answer(frame)
            saved = silos[number].save()
            silos[number] = place(agreed, pop, number, policy=OPEN)
            silos[number].restore(saved)
            if answer is not None:
                curator.take(answer)
                curator.take(answer)
        if curator.state is State.PUBLISHED:
            saved = curator.save()
            curator = Curator(agreed, roster_of(pop), saved=saved)
            for n in (1, 2):
                curator.again(n)
        curator.advance()
    assert curator.result().report_.billboard_sha256 == whole.report_.billboard_sha256
    own = pop.groups % 2 == 0
    assert np.array_equal(silos[1].result().predict(pop.X[own], pop.groups[own]),
                          whole.predict(pop.X[own], pop.groups[own]))


def test_a_silo_that_is_away_and_a_run_that_ends(pop, bounds):
    agreed = billboard.MultiTaskRegressor("mp-prior", epsilon=2, bounds=bounds)
    roster = Roster(np.unique(pop.groups), features=3, silos=2, fewest_silos=1)
    own = pop.groups % 2 == 0
    silo = Silo(agreed, roster, 1, pop.X[own], pop.y[own], pop.groups[own])
    curator = Curator(agreed, roster)
    carry(curator, {1: silo}, lose=(2,))
    assert silo.result().privacy_.is_private
    curator, silo = Curator(agreed, roster_of(pop)), place(agreed, pop, 1)
    curator.take(silo.answer(curator.give(1)))
    curator.stop()
    with pytest.raises((billboard.BillboardError, KeyboardInterrupt)):
        for number, frame in curator.frames():
            if number == 1:
                silo.answer(frame)
    assert silo.state is State.FAILED


def test_the_example_over_pipes():
    example = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples",
                           "silos.py")
    said = subprocess.run([sys.executable, example], check=True, capture_output=True, text=True,
                          timeout=120).stdout
    assert "hospital 1 has models of 20 clinics" in said and "hospital 2" in said
    assert "Guarantee: (ε = 2, δ = 1e-05)" in said and "each of the 40 tasks" in said


def test_names_are_agreed_on(pop, bounds):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(pop.X, columns=["a", "b", "c"])
    bounds = billboard.Bounds({"a": 1, "b": 1, "c": 1}, target=3)
    agreed = billboard.MultiTaskRegressor("mp-prior", epsilon=2, bounds=bounds)
    roster = Roster(np.unique(pop.groups).astype(str), features=["a", "b", "c"], silos=1)
    silo = Silo(agreed, roster, 1, frame, pop.y, pop.groups.astype(str))
    curator = Curator(agreed, roster)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        carry(curator, {1: silo})
    assert curator.result().feature_names_in_.tolist() == ["a", "b", "c"]
    for wrong in (frame[["b", "a", "c"]], frame.rename(columns={"a": "z"})):
        with pytest.raises(ValueError, match="should match those of the roster"):
            Silo(agreed, roster, 1, wrong, pop.y, pop.groups.astype(str))
    assert "features=['a', 'b', 'c']" in repr(roster)
