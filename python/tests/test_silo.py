"""One run in several places: the bytes of one fit, over a transport of the caller's."""

import json
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import billboard
from billboard.silo import (Curator, Helper, Identity, Policy, Roster, Silo, State, new_key,
                            read_key, sign_keys)

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


def test_types_of_rows_are_not_agreed_on(pop):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(pop.X, columns=list("abc"))
    frame["c"] = frame["c"] > 0
    agreed = billboard.MultiTaskRegressor(epsilon=20, random_state=5)
    whole = billboard.MultiTaskRegressor(epsilon=20, random_state=5).fit(
        frame.astype(float), pop.y, pop.groups)
    roster = Roster(np.unique(pop.groups), features=list("abc"), silos=2)
    silos = {}
    for number in (1, 2):
        own = pop.groups % 2 == number - 1
        silos[number] = Silo(agreed, roster, number, frame[own], pop.y[own], pop.groups[own],
                             policy=OPEN)
    curator = Curator(agreed, roster)
    carry(curator, silos)
    assert curator.result().report_.billboard_sha256 == whole.report_.billboard_sha256


def test_private_places(pop, bounds, tmp_path):
    """Each place has its own ledger; all make the same promise."""
    agreed = billboard.MultiTaskRegressor("mp-prior", epsilon=2, bounds=bounds)
    ledgers = [billboard.Ledger(tmp_path / f"{k}", epsilon=3, delta=1e-3) for k in range(3)]
    curator = Curator(agreed.set_params(ledger=ledgers[0]), roster_of(pop))
    silos = {n: place(agreed.set_params(ledger=ledgers[n]), pop, n,
                      policy=Policy(most_epsilon=2, fewest_groups=60)) for n in (1, 2)}
    carry(curator, silos)
    for made in (curator.result(), silos[1].result(), silos[2].result()):
        assert repr(made.privacy_) == \
            "Privacy(ε = 2 at δ = 1e-05, replace-one, sampling all)"
    with pytest.raises(billboard.BudgetError, match="left"):
        Curator(agreed.set_params(ledger=ledgers[0]), roster_of(pop))
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


def test_what_is_predicted_is_agreed_on(pop, bounds):
    agreed = billboard.MultiTaskRegressor("mp-prior", epsilon=2, bounds=bounds)
    days, other = roster_of(pop, 1, target="days"), roster_of(pop, 1)
    offer = Curator(agreed, days).give(1)
    assert Silo(agreed, days, 1, pop.X, pop.y, pop.groups).answer(offer)
    with pytest.raises(billboard.BillboardError, match="features or target"):
        Silo(agreed, other, 1, pop.X, pop.y, pop.groups).take(offer)


# -- two doors --


def doors(pop, bounds, folder, **more):
    """What all agree on, and everybody's identity."""
    agreed = billboard.MultiTaskRegressor("fedprox", epsilon=2, bounds=bounds, rounds=3,
                                          options={"doors": 2}, **more)
    who = {name: folder / f"{name}.key" for name in ("curator", "north", "south", "helper")}
    public = {name: new_key(path) for name, path in who.items()}
    assert public == {name: read_key(path) for name, path in who.items()}
    sign_keys(folder / "keys.json", who["curator"], {n: public[n] for n in ("north", "south")},
              helper=public["helper"])
    return agreed, {name: Identity(path, folder / "keys.json") for name, path in who.items()}, public


def named_roster(pop):
    return Roster(np.unique(pop.groups), features=pop.X.shape[1], silos=["north", "south"])


def open_places(pop, agreed, mine, policy, **of_helper):
    roster, places = named_roster(pop), {}
    for number, name in enumerate(("north", "south"), 1):
        own = pop.groups % 2 == number - 1
        places[number] = Silo(agreed, roster, number, pop.X[own], pop.y[own], pop.groups[own],
                              policy=policy, identity=mine[name])
    places[3] = Helper(agreed, roster, identity=mine["helper"], **of_helper)
    return Curator(agreed, roster, identity=mine["curator"]), places


def say_hello(curator, places):
    for one in places:
        curator.take(one.give())
        one.gave()


def test_two_doors_have_the_bytes_of_one_fit(pop, bounds, tmp_path):
    agreed, mine, public = doors(pop, bounds, tmp_path, random_state=5)
    whole = billboard.MultiTaskRegressor("fedprox", epsilon=2, bounds=bounds, rounds=3,
                                         options={"doors": 2}, random_state=5).fit(
        pop.X, pop.y, pop.groups)
    policy = Policy(allow_open=True, curators=[public["curator"]], helpers=[public["helper"]])
    kept = tmp_path / "helper.state"
    curator, places = open_places(pop, agreed, mine, policy, checkpoint=kept)
    assert kept.exists()
    say_hello(curator, places.values())
    rounds = 0
    while not curator.done:
        for number, frame in curator.frames():
            answer = places[number].answer(frame)
            if number == 3 and places[3].rounds > rounds:
                rounds = places[3].rounds
                assert answer is not None
                del places[3]  # killed: what it has answered, and its key, are kept
                places[3] = Helper(agreed, named_roster(pop), identity=mine["helper"],
                                   checkpoint=kept)
                assert places[3].rounds == rounds
                say_hello(curator, [places[3]])
                break
            if answer is not None:
                curator.take(answer)
        curator.advance()
    assert rounds == 3
    assert curator.result().report_.billboard_sha256 == whole.report_.billboard_sha256
    own = pop.groups % 2 == 0
    assert np.array_equal(places[1].result().predict(pop.X[own], pop.groups[own]),
                          whole.predict(pop.X[own], pop.groups[own]))
    places[3].forget()
    assert not kept.exists()


def test_two_doors_are_private_from_each_keeper(pop, bounds, tmp_path):
    agreed, mine, public = doors(pop, bounds, tmp_path)
    ledger = billboard.Ledger(tmp_path / "helper.ledger", epsilon=3, delta=1e-3)
    policy = Policy(most_epsilon=2, helpers=[public["helper"]])
    curator, places = open_places(pop, agreed, mine, policy)
    places[3] = Helper(agreed.set_params(ledger=ledger), named_roster(pop), identity=mine["helper"])
    say_hello(curator, places.values())
    while not curator.done:
        for number, frame in curator.frames():
            answer = places[number].answer(frame)
            if answer is not None:
                curator.take(answer)
        curator.advance()
    assert ledger.spent()[0] == 2
    assert places[3].done and places[3].rounds == 3
    places[3].store(tmp_path / "helper")
    record = json.loads((tmp_path / "helper" / "operator" / "record.json").read_text())
    assert (record["place"], record["rounds"]) == ("helper", 3)
    assert record["charged"]["epsilon"] == 2
    with pytest.raises(billboard.BillboardError, match="exists"):
        places[3].store(tmp_path / "helper")
    assert repr(curator.result().privacy_).startswith("Privacy(ε = 2 at δ = 1e-05")


def test_what_two_doors_refuse(pop, bounds, tmp_path):
    agreed, mine, public = doors(pop, bounds, tmp_path)
    other = Policy(helpers=[public["north"]])
    roster, own = named_roster(pop), pop.groups % 2 == 0
    with pytest.raises(billboard.BillboardError, match="does not know the helper"):
        curator = Curator(agreed, roster, identity=mine["curator"])
        silo = Silo(agreed, roster, 1, pop.X[own], pop.y[own], pop.groups[own], policy=other,
                    identity=mine["north"])
        say_hello(curator, [silo])
        silo.answer(curator.give(1))
    with pytest.raises(billboard.BillboardError, match="two doors need keys"):
        Curator(agreed, roster)
    with pytest.raises(ValueError, match="names of silos"):
        Curator(agreed, roster_of(pop), identity=mine["curator"])
    with pytest.raises(billboard.BillboardError, match="has for the helper"):
        Helper(agreed, roster, identity=mine["north"])
    single = billboard.MultiTaskRegressor("fedprox", epsilon=2, bounds=bounds, rounds=3)
    with pytest.raises(billboard.BillboardError, match="the run has one"):
        Helper(single, roster, identity=mine["helper"])
    with pytest.raises(billboard.BillboardError, match="exists already"):
        new_key(tmp_path / "north.key")
    assert repr(Identity("a.key", "keys.json")) == "Identity('a.key', 'keys.json')"
