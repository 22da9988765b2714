#!/usr/bin/env python3
"""`billboard account` against what others say of the same plan, over random plans.

    bench/account_truth.py build/billboard [PLANS [SEED]]     with dp-accounting and mpmath

Single rounds, all-task rounds, equal rounds of visible cohorts, steps and Wishart noise
have closed forms or one sum or integral, taken with 40 digits. What is composed of several
sampled rounds is bounded from both sides by lists of losses on a grid, exponentially
tilted so that small deltas have all their digits, which are made finer where that does not
say enough; few rounds by integrals. Where dp-accounting knows the plan its
bounds are asked, too. Epsilon is from .01 to 1000, delta from 1e-12 to 1e-2, rates are
from 1e-6 to 1/2, all uniform in the logarithm.

Prints each plan whose upper bound is below or whose lower bound is above truth, each lower
bound where none can be claimed, each plan that is more than 10^-3 of epsilon wide, or takes
more than 2 s (10 s for noise) of processor time; then a table of all kinds.
"""
import json
import math
import os
import random
import resource
import subprocess
import sys
import tempfile

import dp_accounting
from account_laws import (Atoms, Composed, Pair, Quadrature, added, chosen, exact, gaussian,
                          hidden_added, replaced, response, sampled, sampled_replace,
                          selection, selections, steps, visible, wishart)
from dp_accounting.pld import privacy_loss_distribution as peer
from mpmath import mp, mpf

TASKS = 1000000
ADD, REPLACE = "add-remove", "replace-one"


def uniform_log(low, high):
    return 10 ** random.uniform(math.log10(low), math.log10(high))


# -- dp-accounting, where it knows the plan ------------------------------------------------


def peer_of(event, relation, above, step):
    how = {"pessimistic_estimate": above, "value_discretization_interval": step}
    if event["kind"] == "step":
        share = 2 / (1 + math.exp(event["epsilon"]))
        return peer.from_randomized_response(share, 2, **how)
    sampling = event.get("sampling", "poisson:1")
    return peer.from_gaussian_mechanism(
        event["noise_multiplier"], sampling_prob=float(sampling.split(":")[1]),
        use_connect_dots=above, neighboring_relation=relation, **how)


def ask_peer(events, adjacency, delta, step):
    """Its bounds of epsilon."""
    relation = (dp_accounting.NeighboringRelation.REPLACE_ONE if adjacency == REPLACE
                else dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE)
    answer = []
    for above in (False, True):
        total = None
        for event in events:
            pld, rounds = peer_of(event, relation, above, step), event.get("rounds", 1)
            pld = pld.self_compose(rounds) if rounds > 1 else pld
            total = pld if total is None else total.compose(pld)
        answer.append(total.get_epsilon_for_delta(delta))
    return answer


def peer_knows(events):
    """Pure steps, Poisson samples, rounds of all tasks."""
    return all(e["kind"] == "step" and e["delta"] == 0 or
               e["kind"] == "round" and "cohort" not in e for e in events)


# -- plans: (events or None, words, truth, whether a lower bound may be claimed) -----------


def event(kind="round", **more):
    return dict(more, kind=kind)


def poisson(q, mu, rounds=1):
    return event(noise_multiplier=1 / mu, sampling=f"poisson:{q!r}", rounds=rounds)


def fixed(q, z, cohort, rounds=1):
    return event(noise_multiplier=z, sampling=f"fixed:{round(q * TASKS)}", cohort=cohort,
                 rounds=rounds)


def a_rate(low=1e-6):
    return max(1, round(uniform_log(low, 0.5) * TASKS)) / TASKS


def draw_gaussian(delta, adjacency):
    r = 1 if adjacency == ADD else 2
    count = random.choice([1, 1, 3, 20, 200])
    size = uniform_log(0.01, 40)
    mus = [size * uniform_log(0.05, 1) / math.sqrt(count) for _ in range(count)]
    times = [random.choice([1, 1, 5]) for _ in mus]
    mu = mp.sqrt(sum(t * mpf(r * (1 / (1 / m)))**2 for m, t in zip(mus, times)))
    return ([event(noise_multiplier=1 / m, rounds=t) for m, t in zip(mus, times)],
            exact(lambda e: gaussian(mu, e)), True)


def draw_one_poisson(delta, adjacency):
    q, mu = a_rate(), uniform_log(0.05, 40)
    rule = sampled if adjacency == ADD else sampled_replace
    return [poisson(q, mu)], exact(lambda e: rule(q, 1 / (1 / mpf(mu)), e)), True


def draw_one_hidden(delta, adjacency):
    q, mu = a_rate(), uniform_log(0.05, 40)
    rule = hidden_added if adjacency == ADD else (lambda q, u, e: sampled(q, 2 * u, e))
    return [fixed(q, 1 / mu, "hidden")], exact(lambda e: rule(q, mpf(mu), e)), True


def draw_visible(delta, adjacency):
    q, rounds = a_rate(), int(uniform_log(1, 300))
    mu = uniform_log(0.02, 20) / max(1, math.sqrt(q * rounds))
    r = 1 if adjacency == ADD else 2
    return ([fixed(q, 1 / mu, "visible", rounds)],
            exact(lambda e: visible(q, r * mpf(mu), rounds, e)), True)


def draw_steps(delta, adjacency):
    rounds = int(uniform_log(1, 200))
    each = uniform_log(0.01, 1000) / random.choice([rounds, math.sqrt(rounds)])
    slack = random.choice([0, 0, delta / rounds / 10])
    return ([event("step", epsilon=each, delta=slack, rounds=rounds)],
            exact(lambda e: steps(each, slack, rounds, e)), True)


def draw_selection(delta, adjacency):
    each = uniform_log(0.01, 1000)
    return [event("selection", epsilon=each)], exact(lambda e: selection(each, e)), True


def draw_selections(delta, adjacency):
    """Truth is at least what a common t shows in all of them."""
    rounds = random.randint(2, 100)
    each = uniform_log(0.01, 3)
    shares = [mpf(k) / 20 for k in range(2, 19)]
    return ([event("selection", epsilon=each, rounds=rounds)],
            lambda e: (max(selections(each, s, rounds, e) for s in shares), math.inf), True)


def draw_wishart(delta, adjacency):
    freedom, ratio = random.choice([2, 3, 8, 60, 500]), uniform_log(1e-3, 3)
    return ([event("wishart", noise_multiplier=1 / ratio, freedom=freedom)],
            exact(lambda e: wishart(freedom, 1 / (1 / mpf(ratio)), e)), True)


def compositions(events, adjacency):
    if adjacency == REPLACE:
        return [[(replaced(q, mu), t) for q, mu, t in events]]
    pairs = [(added(q, mu), t) for q, mu, t in events]
    return [[(p[d], t) for p, t in pairs] for d in (0, 1)]


def draw_rounds(different, most, top=6.0):
    """Sampled rounds of one or two rates; few are so large that doubles end."""
    rates = [a_rate(1e-5) for _ in range(random.choice([1, 1, 2]))]
    size, events = uniform_log(0.2, top), []
    for place in range(different):
        times = int(uniform_log(1, most))
        q = rates[place % len(rates)]
        mu = size * ((place + 1) / different)**random.choice([0.1, 0.5, 1.0])
        events.append((q, mu / max(1.0, q * math.sqrt(most * different)), times))
    return events


def draw_composed(different, most, size):
    def draw(delta, adjacency):
        events = draw_rounds(different(), most)
        return ([poisson(*e) for e in events],
                Composed(compositions(events, adjacency), delta, size), True)
    return draw


def draw_visible_unequal(delta, adjacency):
    q, r = a_rate(1e-5), 1 if adjacency == ADD else 2
    different = int(uniform_log(2, 80))
    size = uniform_log(0.1, 4) / max(1.0, math.sqrt(q * different))
    mus = [size * (k + 1) / different for k in range(different)]
    parts = [(Atoms([0.0], [1 - q], Pair([0, r * m], [0, 1], [1, 0])), 1) for m in mus]
    return ([fixed(q, 1 / m, "visible") for m in mus],
            Composed([parts], delta, 1 << 13), True)


def draw_hidden(delta, adjacency):
    """At least what one mechanism shows: the others' contributions in the task's place."""
    q, different = a_rate(1e-5), int(uniform_log(1, 12))
    most = int(uniform_log(2, 300))
    size = uniform_log(0.2, 4) / max(1.0, q * math.sqrt(most * different))
    mus = [size * (k + 1) / different for k in range(different)]
    parts = []
    for m in mus:
        if adjacency == ADD:
            parts.append((Pair([-m, 0, m], [1 - q, 0, q], [1 - q, q, 0]), most))
        else:
            parts.append((added(q, 2 * m)[0], most))
    return ([fixed(q, 1 / m, "hidden", most) for m in mus],
            Composed([parts], delta, 1 << 13), False)


def draw_quadrature(delta, adjacency):
    """Two or three different rounds, the first of them sometimes of all tasks."""
    top = uniform_log(0.1, 8)
    rounds = [(a_rate(), top * uniform_log(0.3, 1)) for _ in range(random.choice([2, 3]))]
    all_tasks = random.random() < 0.3
    if all_tasks:
        rounds[0] = (1.0, rounds[0][1])
    events = [poisson(*e) for e in rounds]
    if all_tasks:
        events[0] = event(noise_multiplier=1 / rounds[0][1])
    return events, Quadrature(rounds, adjacency), True


def draw_mixed(delta, adjacency):
    """Sampled and other rounds, steps, and sometimes selections (no lower bound)."""
    rounds, r = draw_rounds(random.randint(1, 4), 100, 3.0), 1 if adjacency == ADD else 2
    mu, step = uniform_log(0.02, 2), uniform_log(0.01, 1)
    both = compositions(rounds, adjacency)
    events = [poisson(*e) for e in rounds]
    events += [event(noise_multiplier=1 / mu), event("step", epsilon=step, delta=0)]
    selects = random.random() < 0.5
    if selects:
        events.append(event("selection", epsilon=step, rounds=3))
    for parts in both:
        parts += [(Pair([0, r * mu], [0, 1], [1, 0]), 1), (response(step), 1)]
        parts += [(chosen(step, step / 2), 3)] * selects
    return events, Composed(both, delta, 1 << 13), not selects


KINDS = {
    "all tasks": (draw_gaussian, 3),
    "one Poisson round": (draw_one_poisson, 6),
    "one hidden round": (draw_one_hidden, 4),
    "equal visible rounds": (draw_visible, 4),
    "equal steps": (draw_steps, 4),
    "one selection": (draw_selection, 2),
    "equal selections": (draw_selections, 2),
    "one Wishart release": (draw_wishart, 1),
    "few rounds, by quadrature": (draw_quadrature, 16),
    "equal Poisson rounds": (draw_composed(lambda: 1, 3000, 1 << 13), 6),
    "up to 8 Poisson rounds": (draw_composed(lambda: random.randint(2, 8), 100, 1 << 13), 5),
    "65 to 150 Poisson rounds": (draw_composed(lambda: random.randint(65, 80), 10, 1 << 13), 1),
    "different visible rounds": (draw_visible_unequal, 3),
    "hidden rounds": (draw_hidden, 3),
    "mixtures of all": (draw_mixed, 3),
}


def call(program, words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, "account", "--json"] + words, capture_output=True,
                          text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def judge_once(ask, given, bounds, upper, lower):
    wrong, margin = [], 1e-9
    if ask == "delta":
        low, high = bounds(given)
        if upper is not None and upper < low * (1 - margin):
            wrong.append(f"FALSE: delta {upper:.9g} below {float(low):.9g}")
        if lower is not None and lower > high * (1 + margin):
            wrong.append(f"FALSE: lower delta {lower:.9g} above {float(high):.9g}")
        return wrong
    if upper is not None:
        low = float(bounds(upper)[0])
        if low > given * (1 + margin):
            wrong.append(f"FALSE: epsilon {upper:.9g} has delta {low:.9g}")
        high = float(bounds(upper * (1 + 1e-3))[1])
        if upper > 0.01 and given < high < math.inf:
            wrong.append(f"not sure: epsilon {upper:.9g} has {low:.9g} to {high:.9g}")
    if lower and bounds(lower)[1] < given * (1 - margin):
        wrong.append(f"FALSE: lower epsilon {lower:.9g} has {float(bounds(lower)[1]):.9g}")
    return wrong


def judge(ask, given, bounds, upper, lower):
    """What is wrong with the answer, of epsilon at delta = given or the other way round."""
    wrong = judge_once(ask, given, bounds, upper, lower)
    for _ in range(4):
        if not wrong or not hasattr(bounds, "finer"):
            break
        bounds = bounds.finer()
        wrong = judge_once(ask, given, bounds, upper, lower)
    return wrong


def examine_search(program):
    """Noise is found for rounds by a schedule; what it really costs."""
    delta, adjacency = uniform_log(1e-12, 1e-2), random.choice([ADD, REPLACE])
    rounds, q, target = int(uniform_log(1, 40)), a_rate(1e-4), uniform_log(0.05, 20)
    words = ["--rounds", str(rounds), "--sampling", f"poisson:{q!r}", "--adjacency",
             adjacency, "--schedule", f"power:{random.uniform(-1, 1)!r}", "--epsilon",
             repr(target), "--delta", repr(delta), "--tasks", str(TASKS)]
    done, seconds = call(program, words)
    told = " ".join(words)
    if done.returncode:
        return "noise found", [f"refused: {done.stderr.strip()}"], None, seconds, told
    answer = json.loads(done.stdout)
    events = [(q, 1 / z, 1) for z in answer["noise_multipliers"]]
    if events[0][1] > 50:  # next to no noise
        return "noise found", [], None, seconds, told
    bounds = Composed(compositions(events, adjacency), delta, 1 << 13)
    wrong = judge("epsilon", delta, bounds, answer["epsilon"], answer["epsilon_lower"])
    if answer["epsilon"] > target:
        wrong.append("FALSE: more than was asked for")
    if answer["epsilon"] < target * (1 - 2e-4):
        wrong.append(f"far: {answer['epsilon']} of {target}")
    if seconds > 10:
        wrong.append(f"slow: {seconds:.2f} s")
    slack = 1 - (answer["epsilon_lower"] or answer["epsilon"]) / answer["epsilon"]
    return "noise found", wrong, slack, seconds, told


def examine(program, path, number, seed):
    random.seed(f"{seed} {number}")
    names, weights = list(KINDS), [w for _, w in KINDS.values()]
    kind = random.choices([*names, "noise found"], [*weights, 3])[0]
    if kind == "noise found":
        return examine_search(program)
    delta, adjacency = uniform_log(1e-12, 1e-2), random.choice([ADD, REPLACE])
    if kind == "one Wishart release":
        adjacency = ADD
    events, bounds, claims = KINDS[kind][0](delta, adjacency)
    ask = random.choice(["epsilon", "epsilon", "epsilon", "delta"])
    with open(path, "w", encoding="utf-8") as file:
        json.dump(events, file)
    base = ["--events", path, "--tasks", str(TASKS), "--adjacency", adjacency]
    done, seconds = call(program, base + ["--delta", f"{delta!r}"])
    wrong, slack, told = [], None, f"{kind}, {adjacency}, delta {delta:.3g}"
    if done.returncode:
        if "no epsilon is valid" in done.stderr and bounds(1e4)[0] > delta:
            return kind, [], None, seconds, told
        return kind, [f"refused ({done.returncode}) {done.stderr.strip()}"], None, seconds, told
    answer = json.loads(done.stdout)
    upper, lower = answer["epsilon"], answer["epsilon_lower"]
    wrong += judge("epsilon", delta, bounds, upper, lower)
    if not claims and lower is not None:
        wrong.append(f"a lower bound, {lower:.9g}, where there is none")
    if upper and 0.01 < upper < 60 and len(events) <= 20 and peer_knows(events):
        wrong += beside_peer(kind, events, adjacency, delta, upper, lower)
    if upper is not None and lower is not None and 1e-3 <= upper <= 200:
        slack = (upper - lower) / upper
        if slack > 1e-3:
            wrong.append(f"wide: {slack:.2e} at epsilon {upper:.6g}")
    if ask == "delta" and upper and upper > 0:
        done, more = call(program, base + ["--epsilon", f"{upper!r}"])
        seconds = max(seconds, more)
        if done.returncode == 0:
            answer = json.loads(done.stdout)
            wrong += judge("delta", upper, bounds, answer["delta"], answer["delta_lower"])
    if seconds > 2:
        wrong.append(f"slow: {seconds:.2f} s")
    return kind, wrong, slack, seconds, f"{told}, epsilon {upper}..{lower}"


ASKED_PEER = {}


def beside_peer(kind, events, adjacency, delta, upper, lower):
    """The peer's own rounding of masses is about 1e-14."""
    delta_up, delta_low = delta + 1e-14, max(delta - 1e-14, delta / 2)
    step = max(1e-5, upper * 1e-4)
    try:
        low = ask_peer(events, adjacency, delta_up, step)[0]
        high = ask_peer(events, adjacency, delta_low, step)[1]
    except (ValueError, MemoryError, OverflowError, FloatingPointError) as refusal:
        return [f"dp-accounting refuses: {refusal}"]
    ASKED_PEER[kind] = ASKED_PEER.get(kind, 0) + 1
    wrong = []
    if upper < low:
        wrong.append(f"FALSE: epsilon {upper:.9g} below dp-accounting's {low:.9g}")
    if lower is not None and lower > high * (1 + 1e-9):
        wrong.append(f"FALSE: lower epsilon {lower:.9g} above dp-accounting's {high:.9g}")
    return wrong


def add_to(table, number, examined):
    kind, wrong, slack, seconds, told = examined
    row = table.setdefault(kind, [0, 0, 0.0, 0.0, 0])
    row[0] += 1
    row[1] += any(w.startswith("FALSE") for w in wrong)
    row[2] = max(row[2], slack or 0.0)
    row[3] = max(row[3], seconds)
    row[4] += any(w.startswith("not sure") for w in wrong)
    for what in wrong:
        print(f"plan {number}: {what}: {told}", flush=True)


def main():
    program = sys.argv[1]
    plans = int(sys.argv[2]) if len(sys.argv) > 2 else 500
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    table = {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "plan.json")
        try:
            for number in range(plans):
                add_to(table, number, examine(program, path, number, seed))
        except KeyboardInterrupt:
            print("ended early")
    print("| kind | plans | dp-accounting asked | false | not sure | largest slack | longest, s |")
    print("|---|---|---|---|---|---|---|")
    for kind, row in sorted(table.items()):
        print(f"| {kind} | {row[0]} | {ASKED_PEER.get(kind, 0)} | {row[1]} | {row[4]} "
              f"| {row[2]:.1e} | {row[3]:.2f} |")
    print(f"{sum(r[0] for r in table.values())} plans, {sum(r[1] for r in table.values())} "
          f"false, {sum(r[4] for r in table.values())} not sure; dp-accounting asked of "
          f"{sum(ASKED_PEER.values())}")


if __name__ == "__main__":
    main()
