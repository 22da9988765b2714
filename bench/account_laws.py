"""What one mechanism costs, or several, as delta of epsilon: closed forms with 40 digits, and
compositions on a grid of losses between two bounds. For account_truth.py; nothing of
Billboard's own code. The formulas are those of docs/privacy.md.
"""
import math

import mpmath
import numpy as np
from mpmath import mp, mpf
from scipy.special import log_ndtr, ndtr

mp.dps = 40


# -- closed forms, with 40 digits: functions of epsilon -----------------------------------


def gaussian(mu, epsilon):
    mu, epsilon = mpf(mu), mpf(epsilon)
    return (mp.ncdf(mu / 2 - epsilon / mu)
            - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu))


def sampled(q, mu, epsilon):
    return q * gaussian(mu, mp.log1p(mp.expm1(mpf(epsilon)) / q))


def sampled_replace(q, u, epsilon):
    q, u, a = mpf(q), mpf(u), mp.exp(mpf(epsilon))
    small, half = q * mp.exp(-u * u / 2), (1 - q) * (a - 1)
    t = mp.log((half + mp.sqrt(half**2 + 4 * small**2 * a)) / (2 * small)) / u
    return (q * mp.ncdf(u - t) - a * q * mp.ncdf(-u - t)
            + (1 - q) * (1 - a) * mp.ncdf(-t))


def hidden_added(q, u, epsilon):
    """One vector round of a hidden cohort under add-remove: w = u."""
    q, u, a = mpf(q), mpf(u), mp.exp(mpf(epsilon))
    low, high = mpf(-200), mpf(10000)
    for _ in range(150):
        t = (low + high) / 2
        gain = mp.log(q) + t * u - u * u / 2
        loss = mp.log(a * q + (a - 1) * (1 - q) * mp.exp(-t * u - u * u / 2))
        low, high = (low, t) if gain > loss else (t, high)
    return (q * (mp.ncdf(u - t) - a * mp.ncdf(-t))
            - (a - 1) * (1 - q) * mp.ncdf(-u - t))


def visible(q, mu, rounds, epsilon):
    total, mean = mpf(0), q * rounds
    wide = 15 * math.sqrt(mean) + 60
    for k in range(max(1, int(mean - wide)), min(rounds, int(mean + wide)) + 1):
        chance = mp.binomial(rounds, k) * mpf(q)**k * mpf(1 - q)**(rounds - k)
        total += chance * gaussian(mu * mp.sqrt(k), epsilon)
    return total


def steps(each, slack, rounds, epsilon):
    p, total = 1 / (1 + mp.exp(-mpf(each))), mpf(0)
    for k in range(rounds + 1):
        loss = (2 * k - rounds) * mpf(each)
        if loss > epsilon:
            total += (mp.binomial(rounds, k) * p**k * (1 - p)**(rounds - k)
                      * -mp.expm1(epsilon - loss))
    kept = (1 - mpf(slack))**rounds
    return 1 - kept + kept * total


def selection(each, epsilon):
    if epsilon >= each:
        return mpf(0)
    return (mp.exp(mpf(each) / 2) - mp.exp(mpf(epsilon) / 2))**2 / mp.expm1(mpf(each))


def selections(each, share, rounds, epsilon):
    """Of losses t and t - each, t = share * each."""
    t = share * mpf(each)
    p, total = (mp.exp(each) - mp.exp(t)) / mp.expm1(each), mpf(0)
    for k in range(rounds + 1):
        loss = rounds * t - (rounds - k) * mpf(each)
        if loss > epsilon:
            total += (mp.binomial(rounds, k) * p**k * (1 - p)**(rounds - k)
                      * -mp.expm1(epsilon - loss))
    return total


def wishart(freedom, ratio, epsilon):
    """chi^2 noise of `freedom` on 0 or on `ratio`: both directions."""
    half, a = mpf(freedom) / 2, mp.exp(mpf(epsilon))

    def beyond(x):
        return mpmath.gammainc(half, max(mpf(0), x) / 2, mp.inf, regularized=True)

    if half == 1:
        ends = mpf(ratio)
        there = mpf(1) if a < mp.exp(ends / 2) else mpf(0)
        up = (1 - a * mp.exp(-ends / 2)) * there
        return max(up, 1 - mp.exp(-ends / 2))
    # without it the loss is -ratio / 2 - (half - 1) log(1 - ratio / v)
    share = mp.exp((-mpf(epsilon) - ratio / mpf(2)) / (half - 1))
    v = ratio / (1 - share)
    absent = (1 - beyond(v)) - a * (1 - beyond(v - ratio))
    top = mp.exp((mpf(epsilon) - ratio / mpf(2)) / (half - 1))
    present = mpf(0)
    if top < 1:  # with it: the other sign, v above
        v = ratio / (1 - top)
        present = beyond(v - ratio) - a * beyond(v)
    return max(present, absent)


# -- two or three events by quadrature: functions of arrays of epsilon, relative 1e-11 ------


def gaussian_array(mu, x):
    up, down = log_ndtr(mu / 2 - x / mu), log_ndtr(-mu / 2 - x / mu)
    return np.exp(up) * -np.expm1(np.minimum(0.0, x + down - up))


def poisson_array(q, mu, way, x):
    """The profile of a Poisson sample at any real epsilon; q = 1: all tasks."""
    with np.errstate(all="ignore"):
        if way == "there":  # q delta(log(1 + (e^x - 1) / q))
            inner = x + np.log1p(-(1 - q) * np.exp(-x)) - math.log(q)
            return np.where(x > np.log1p(-q), q * gaussian_array(mu, inner), -np.expm1(x))
        if way == "gone":
            left = -np.expm1(x + np.log1p(-q))  # 1 - e^x (1 - q)
            inner = x + math.log(q) - np.log(left)
            return np.where(left > 0, left * gaussian_array(mu, inner), 0.0)
        y = np.abs(x)  # its own mirror image
        a, small = np.exp(y), q * math.exp(-mu * mu / 2)
        half = (1 - q) * (a - 1)
        t = np.log((half + np.sqrt(half**2 + 4 * small**2 * a)) / (2 * small)) / mu
        there = np.exp(log_ndtr(mu - t) + math.log(q))
        away = np.exp(y + math.log(q) + log_ndtr(-mu - t))
        rest = np.exp(np.log(half) + log_ndtr(-t)) if q < 1 else 0.0
        there = np.maximum(0.0, there - away - rest)
        return np.where(x < 0, -np.expm1(x) + np.exp(x) * there, there)


def losses_of(q, mu, way, panel):
    """Nodes of P with their losses."""
    means = [0.0, mu] if way != "replaced" else [-mu, 0.0, mu]
    p = {"there": [1 - q, q], "gone": [1, 0], "replaced": [0, 1 - q, q]}[way]
    other = {"there": [1, 0], "gone": [1 - q, q], "replaced": [q, 1 - q, 0]}[way]
    pair = Pair(means, p, other)
    ends = np.arange(means[0] - 14, means[-1] + 14 + panel, panel)
    at, weight = np.polynomial.legendre.leggauss(16)
    t = (ends[:-1, None] + panel * (1 + at) / 2).ravel()
    log_p = pair.log(pair.p, t) - math.log(2 * math.pi) / 2 - t * t / 2
    masses = np.tile(weight * panel / 2, len(ends) - 1) * np.exp(log_p)
    return pair.loss(t), masses


class Quadrature:
    """delta(epsilon) of two or three (q, mu) between two bounds: by panels of two lengths,
    as far apart as these say. The rarer rounds are integrated over; the profile of the one
    with the largest q, which is the smoothest, is in closed form."""

    def __init__(self, events, adjacency, panel=0.5):
        self.ways = ["replaced"] if adjacency == "replace-one" else ["there", "gone"]
        self.events, self.panel = sorted(events), panel
        self.finer = lambda: Quadrature(events, adjacency, panel / 2)

    def delta(self, epsilon, panel):
        most = 0.0
        for way in self.ways:
            loss, mass = np.zeros(1), np.ones(1)
            for q, mu in self.events[:-1]:
                more, weight = losses_of(q, mu, way, panel)
                loss = (loss[:, None] + more).ravel()
                mass = (mass[:, None] * weight).ravel()
                loss, mass = loss[mass > 1e-40], mass[mass > 1e-40]
            last = poisson_array(*self.events[-1], way, epsilon - loss)
            most = max(most, float((mass * last).sum()))
        return most

    def __call__(self, epsilon):
        coarse, fine = (self.delta(float(epsilon), x) for x in (self.panel, 0.6 * self.panel))
        margin = abs(coarse - fine) + 1e-9 * fine
        return fine - margin, fine + margin


# -- one round on a grid of losses: masses of P that bound it from above and from below ----


class Pair:
    """Sums of weights[i] N(means[i], 1), P's and Q's, whose loss rises with t."""

    def __init__(self, means, p, q):
        self.means, self.p, self.q = (np.array(x, float) for x in (means, p, q))

    def log(self, weights, t):
        with np.errstate(divide="ignore"):
            parts = np.log(weights) + np.outer(t, self.means) - self.means**2 / 2
        top = parts.max(axis=1)
        return top + np.log(np.exp(parts - top[:, None]).sum(axis=1))

    def loss(self, t):
        return self.log(self.p, t) - self.log(self.q, t)

    def points(self, losses, reach):
        """Where the loss is that: by Newton's steps within brackets."""
        known = np.linspace(self.means.min() - reach, self.means.max() + reach, 4097)
        there = self.loss(known)
        place = np.clip(np.searchsorted(there, losses), 1, len(known) - 1)
        low, high = known[place - 1], known[place]
        t = np.clip(np.interp(losses, there, known), low, high)
        for _ in range(5):
            aside = 1e-6
            now = self.loss(t)
            slope = (self.loss(t + aside) - now) / aside
            t = np.clip(t - (now - losses) / np.maximum(slope, 1e-300), low, high)
        return t

    def between(self, weights, t):
        total = 0.0
        for mean, weight in zip(self.means, weights):
            x = t - mean
            left = ndtr(x[1:]) - ndtr(x[:-1])
            right = ndtr(-x[:-1]) - ndtr(-x[1:])
            total = total + weight * np.where(x[:-1] > 0, right, left)
        return np.maximum(total, 0.0)

    def ends(self, reach):
        t = np.array([self.means.min() - reach, self.means.max() + reach])
        return self.loss(t)

    def lists(self, step, reach):
        """First index, masses above, masses below."""
        low, high = self.ends(reach)
        first, last = math.floor(low / step), math.ceil(high / step)
        grid = step * np.arange(first, last + 1)
        t = self.points(grid, reach)
        p, q = self.between(self.p, t), self.between(self.q, t)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.log(p) - np.log(q)
        mean = np.clip(np.where(np.isfinite(mean), mean, grid[1:]), grid[:-1], grid[1:])
        to_end = np.clip(np.expm1(grid[:-1] - mean) / math.expm1(-step), 0.0, 1.0)
        above, below = np.zeros(len(grid)), np.zeros(len(grid))
        above[:-1] += p * (1 - to_end)
        above[1:] += p * to_end
        below[:-1] += p
        return first, above, below


class Atoms:
    def __init__(self, losses, masses, picked=None):
        self.losses, self.masses, self.picked = losses, masses, picked

    def ends(self, reach):
        ends = self.picked.ends(reach) if self.picked else []
        return min([*self.losses, *ends]), max([*self.losses, *ends])

    def lists(self, step, reach):
        rest = 1.0 - sum(self.masses) if self.picked else 0.0
        low, high = self.ends(reach)
        first = math.floor(low / step)
        above = np.zeros(math.ceil(high / step) - first + 2)
        below = above.copy()
        for loss, mass in zip(self.losses, self.masses):
            at = math.floor(loss / step)
            up = min(1.0, max(0.0, math.expm1(at * step - loss) / math.expm1(-step)))
            above[at - first] += mass * (1 - up)
            above[at - first + 1] += mass * up
            below[at - first] += mass
        if self.picked:
            start, more, less = self.picked.lists(step, reach)
            above[start - first:start - first + len(more)] += rest * more
            below[start - first:start - first + len(less)] += rest * less
        return first, above, below


def response(each):
    p = 1 / (1 + math.exp(-each))
    return Atoms([each, -each], [p, 1 - p])


def chosen(each, t):
    p = (math.exp(each) - math.exp(t)) / math.expm1(each)
    return Atoms([t, t - each], [p, 1 - p])


def compose(parts, tilt, step, reach, size):
    """Masses above and below of all (pair, rounds): lists to read delta from. None where
    they do not fit."""
    if any(np.ptp(pair.ends(reach)) > (size - 4) * step for pair, _ in parts):
        return None
    made = [(pair.lists(step, reach), rounds) for pair, rounds in parts]
    out = []
    for side in (1, 2):
        log_mass, start, mean, variance, transform = 0.0, 0, 0.0, 0.0, 1.0
        for lists, rounds in made:
            first, masses = lists[0], lists[side]
            weight = np.zeros(size)
            loss = step * (first + np.arange(len(masses)))
            tilted = masses * np.exp(tilt * (loss - loss[-1]))
            total = tilted.sum()
            tilted /= total
            weight[:len(tilted)] = tilted
            log_mass += rounds * (math.log(total) + tilt * loss[-1])
            middle = (tilted * loss).sum()
            mean += rounds * middle
            variance += rounds * (tilted * (loss - middle)**2).sum()
            transform = transform * np.fft.rfft(weight)**rounds
            start += rounds * first
        wrapped = np.fft.irfft(transform, size)
        begin = int(round(mean / step)) - size // 2
        index = begin + np.arange(size)
        masses = np.maximum(wrapped[(index - start) % size], 0.0)
        if masses[:size // 32].sum() + masses[-size // 32:].sum() > 1e-11:
            return None
        out.append((step * index, masses, log_mass))
    return out


def profile(lists, tilt, epsilon):
    losses, masses, log_mass = lists
    over = losses > epsilon
    x = losses[over]
    return float((masses[over] * np.exp(log_mass - tilt * x)
                  * -np.expm1(epsilon - x)).sum())


class Composed:
    """delta(epsilon) between two bounds, the larger of several compositions, near a delta.
    Above: connected dots, whose error falls with the square of the step. Below: what masses
    moved to the loss below have; and where epsilon is many steps, what two steps
    extrapolate to, less as much as that is apart again, if that is more."""

    def __init__(self, compositions, delta, size=1 << 15):
        self.finer = lambda: Composed(compositions, delta, 4 * size)
        self.lists = []
        for parts in compositions:
            tilt, step, reach = self.scale(parts, delta, size)
            coarse = fine = None
            while coarse is None or fine is None:
                coarse = compose(parts, tilt, step, reach, size)
                fine = compose(parts, tilt, step / 2, reach, 2 * size) if coarse else None
                step *= 1.6
            self.lists.append((tilt, coarse[0], *fine))

    @staticmethod
    def scale(parts, delta, size):
        """A tilt near the saddle, and a step so that all fits."""
        reach, coarse = 25.0, []
        for pair, rounds in parts:
            low, high = pair.ends(reach)
            step = max(1e-9, (high - low) / 3000)
            first, above, _ = pair.lists(step, reach)
            coarse.append((step * (first + np.arange(len(above))), above, rounds))
        best = None
        for tilt in 10.0**np.arange(-2, 4.01, 0.1):
            total, mean, variance, largest = 0.0, 0.0, 0.0, 0.0
            for loss, masses, rounds in coarse:
                with np.errstate(divide="ignore"):
                    x = np.log(masses) + tilt * loss
                top = x.max()
                w = np.exp(x - top)
                total += rounds * (top + math.log(w.sum()))
                middle = (w * loss).sum() / w.sum()
                mean += rounds * middle
                variance += rounds * (w * (loss - middle)**2).sum() / w.sum()
                likely = loss[w > 1e-17 * w.sum() / rounds]
                largest = max(largest, likely[-1] - likely[0])
            epsilon = (total - math.log(delta) - math.log(tilt + 1)) / tilt
            if best is None or epsilon < best[0]:
                best = (epsilon, tilt, 1.3 * (18 * math.sqrt(variance) + 2 * largest))
        return best[1], max(1e-9, best[2] / size), reach

    def __call__(self, epsilon):
        low = high = 0.0
        for tilt, *lists in self.lists:
            coarse, above, below = (profile(x, tilt, float(epsilon)) for x in lists)
            high = max(high, above)
            low = max(low, below)
            if epsilon > 50 * (lists[1][0][1] - lists[1][0][0]):
                low = max(low, above - 0.7 * abs(coarse - above))
        return low, high


def exact(function):
    def bounds(epsilon):
        value = function(epsilon)
        return value * (1 - mpf(10)**-15), value * (1 + mpf(10)**-15)
    return bounds


def added(q, mu):
    """Both directions of a Poisson sample under add-remove."""
    there = Pair([0, mu], [1 - q, q], [1, 0])
    gone = Pair([0, -mu], [1, 0], [1 - q, q])
    return there, gone


def replaced(q, u):
    return Pair([-u, 0, u], [0, 1 - q, q], [q, 1 - q, 0])
