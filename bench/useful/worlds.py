"""The generated worlds of bench/useful: populations of which everything is known.

A maker is called with a random.Random and yields for every task a list of rows (target, x1, ...);
the first `train` rows of each are for training, as `Table.write` says. Standard Python only.
"""
import array
import math


def normals(random, count, deviation=1.0):
    return [random.gauss(0.0, deviation) for _ in range(count)]


def dot(x, w):
    return sum(map(float.__mul__, x, w))


def logistic(random, score):
    return float(random.random() < 1.0 / (1.0 + math.exp(-max(-500.0, min(500.0, score)))))


def plus(w, v):
    return list(map(float.__add__, w, v))


def directions(random, rank, d, deviation):
    """rank vectors of length d; a task's deviation is a combination of them."""
    return [normals(random, d, deviation) for _ in range(rank)]


def combined(random, vectors):
    w = [0.0] * len(vectors[0])
    for v in vectors:
        z = random.gauss(0.0, 1.0)
        w = [a + z * b for a, b in zip(w, v)]
    return w


def regressions(m, n, test, d, model, noise, features=None):
    """Tasks i < m of n + test rows: y = b_i + x.w_i + noise; model(random) is called once and
    returns what makes a task's (w_i, b_i); features(random) makes a row, by default N(0, I)."""
    def make(random):
        draw = model(random)
        for _ in range(m):
            w, b = draw()
            rows = []
            for _ in range(n + test):
                x = features(random) if features else normals(random, d)
                rows.append([b + dot(x, w) + noise(random)] + x)
            yield rows
    return make


def labelled(m, n, test, d, model):
    """The same with targets 0 and 1, log odds b_i + x.w_i."""
    def make(random):
        draw = model(random)
        for _ in range(m):
            w, b = draw()
            xs = [normals(random, d) for _ in range(n + test)]
            yield [[logistic(random, b + dot(x, w))] + x for x in xs]
    return make


def classed(m, n, test, d, outputs, mean, own, spread):
    """Targets 0 .. outputs - 1, the largest of b_ic + x.w_ic + Gumbel noise: w_ic = mean + own
    part, b_ic = mean + own part, deviations of every entry."""
    def make(random):
        w0 = [normals(random, d, mean) for _ in range(outputs)]
        b0 = normals(random, outputs, spread)
        for _ in range(m):
            w = [plus(v, normals(random, d, own)) for v in w0]
            b = plus(b0, normals(random, outputs, spread))
            rows = []
            for _ in range(n + test):
                x = normals(random, d)
                z = [c + dot(x, v) - math.log(random.expovariate(1.0)) for c, v in zip(b, w)]
                rows.append([float(z.index(max(z)))] + x)
            yield rows
    return make


def few_logits(d, count, deviation, own):
    """few_matter for log odds, intercepts of deviation .5."""
    inner = few_matter(d, count, deviation, own)

    def model(random):
        draw = inner(random)
        return lambda: (draw()[0], random.gauss(0.0, 0.5))
    return model


def around(d, mean, rank, low, own, intercept, spread):
    """w_i = mean + low-rank part + own part; b_i ~ N(intercept, spread^2). The figures are
    deviations of every entry."""
    def model(random):
        w0 = normals(random, d, mean)
        shared = directions(random, rank, d, low) if rank else [[0.0] * d]

        def draw():
            w = plus(plus(w0, combined(random, shared)), normals(random, d, own))
            return w, random.gauss(intercept, spread)
        return draw
    return model


def gaussian(deviation):
    return lambda random: random.gauss(0.0, deviation)


def subspace(d, rank):
    """w_i = U v_i with orthonormal U (d x rank), v_i ~ N(0, I): nothing in common but U."""
    def model(random):
        basis = []
        for _ in range(rank):
            u = normals(random, d)
            for v in basis:
                a = dot(u, v)
                u = [p - a * q for p, q in zip(u, v)]
            size = math.sqrt(dot(u, u))
            basis.append([p / size for p in u])
        return lambda: (combined(random, basis), 0.0)
    return model


def few_matter(d, count, deviation, own):
    """A common model of `count` weights that are not 0, deviations on the same features."""
    def model(random):
        places = random.sample(range(d), count)
        w0 = [0.0] * d
        for k in places:
            w0[k] = random.gauss(0.0, deviation)

        def draw():
            w = list(w0)
            for k in places:
                w[k] += random.gauss(0.0, own)
            return w, random.gauss(0.0, 1.0)
        return draw
    return model


def correlated(d, share):
    """Rows whose neighbouring columns are correlated (autoregressive)."""
    rest = math.sqrt(1.0 - share * share)

    def row(random):
        x = [random.gauss(0.0, 1.0)]
        for _ in range(d - 1):
            x.append(share * x[-1] + rest * random.gauss(0.0, 1.0))
        return x
    return row


def student(random, freedom):
    return random.gauss(0.0, 1.0) / math.sqrt(random.gammavariate(freedom / 2, 2) / freedom)


def heavy(random):
    """Sizes from 5 to 60, log-normal features, noise of Student's t with 2.5 degrees."""
    d = 10
    w0 = normals(random, d, 0.7)
    for _ in range(400):
        n = int(round(5 * 12 ** random.random()))
        w, b = plus(w0, normals(random, d, 0.2)), random.gauss(5.0, 2.0)
        rows = []
        for _ in range(2 * n):
            x = [math.exp(random.gauss(0.0, 1.0)) for _ in range(d)]
            rows.append([b + dot(x, w) + 1.5 * student(random, 2.5)] + x)
        yield rows


def growth(random):
    """Height at 6 ages of 300 children, seen at 12: age, its square; own level, own speed."""
    for _ in range(300):
        u = random.gauss(0.0, 1.0)
        level, speed = 85.0 + 4.0 * u, 6.5 + 0.6 * (0.5 * u + 0.87 * random.gauss(0.0, 1.0))
        bend = -0.12 + 0.02 * random.gauss(0.0, 1.0)
        ages = [2.0 + 8.0 * random.random() for _ in range(12)]
        yield [[level + speed * (t - 2) + bend * (t - 2) ** 2 + random.gauss(0.0, 1.0), t, t * t]
               for t in ages]


def write(path, make, random):
    """A .npy file: task, target, features; float64."""
    table, columns = array.array("d"), 0
    for i, rows in enumerate(make(random)):
        for row in rows:
            columns = 1 + len(row)
            table.append(float(i + 1))
            table.extend(row)
    shape = f"({len(table) // columns}, {columns})"
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode("ascii"))
        table.tofile(file)
