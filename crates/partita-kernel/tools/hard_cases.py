"""Writes tests/data/hard.txt: arguments and their values, correctly rounded.

Run: python3 tools/hard_cases.py > tests/data/hard.txt   (needs mpmath)

Each line has a function, the bits of its arguments, the bits of the rounded value, and how much
more the exact value is, in units of the last place. Arguments lie where results are hardest: at
the borders of reductions, near zeros and infinities, among subnormals, and at random.
"""

import math
import random
import struct

import mpmath as mp

mp.mp.prec = 2200  # enough for the sine of the largest numbers
random.seed(1)


def bits(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def around(x, n=1):
    """Floats next to x."""
    result = [x]
    up = down = x
    for _ in range(n):
        up, down = math.nextafter(up, math.inf), math.nextafter(down, -math.inf)
        result += [up, down]
    return result


def power(low, high, signed=False):
    size = math.ldexp(random.uniform(1, 2), random.randint(low, high - 1))
    return -size if signed and random.random() < 0.5 else size


def many(make, count=24):
    return [make() for _ in range(count)]


TINY = [5e-324, -5e-324, 1e-310, -1e-310, 2.2250738585072014e-308, 1e-300, -1e-20, 1e-17, 1e-9]
LN2 = math.log(2)
EXP = sum((around(n * LN2 / 2) for n in (-2149, -2043, -301, -3, -1, 1, 3, 5, 1023, 2046)), [])
LOG = sum((around(x) for x in (0.5, 2**-0.5, 1.0, 2**0.5, 2.0, 10.0, 1e300, 5e-324, 1e-310)), [])
TURN = sum((around(n * math.pi / 4) for n in (1, 2, 3, 4, 6, 7, 1000, 12345678, 2**29)), [])
TURN += [
    6381956970095103.0 * 2.0**797,
    1.7976931348623157e308,
    2.0**30,
    2.0**31,
    1e22,
    5319372648326541.0 * 2.0**797,
]
UNIT = sum((around(x) for x in (0.5, -0.5, 7 / 16, 11 / 16)), []) + [
    1.0,
    -1.0,
    0.9999999999999999,
    -0.9999999999999999,
]

CASES = {
    "exp": EXP + TINY + [709.78, -745.13] + many(lambda: random.uniform(-745, 709)),
    "exp2": TINY
    + [1023.9999, -1074.0, -1022.5, 0.5, -0.5, 1.5]
    + many(lambda: random.uniform(-1074, 1024)),
    "expm1": EXP[6:]
    + TINY
    + [-37.5, -0.34, 0.34, 59.99, 60.01]
    + many(lambda: random.uniform(-40, 709))
    + many(lambda: power(-60, 3, True)),
    "log": LOG + many(lambda: power(-1000, 1000)) + many(lambda: random.uniform(0.5, 2)),
    "log2": LOG + many(lambda: power(-1000, 1000)) + many(lambda: random.uniform(0.5, 2)),
    "log10": LOG
    + [1000.0, 1e22, 0.001]
    + many(lambda: power(-1000, 1000))
    + many(lambda: random.uniform(0.5, 2)),
    "log1p": TINY
    + around(-0.29)
    + around(0.41)
    + [-0.9999999999999999, 1e300]
    + many(lambda: random.uniform(-1, 3))
    + many(lambda: power(-70, 70)),
    "sin": TINY + TURN + many(lambda: power(-30, 31, True)) + many(lambda: power(30, 1023, True)),
    "cos": TINY + TURN + many(lambda: power(-30, 31, True)) + many(lambda: power(30, 1023, True)),
    "tan": TINY + TURN + many(lambda: power(-30, 31, True)) + many(lambda: power(30, 1023, True)),
    "asin": TINY + UNIT + many(lambda: random.uniform(-1, 1)),
    "acos": TINY + UNIT + many(lambda: random.uniform(-1, 1)),
    "atan": TINY + UNIT + [1e18, -1e300, 16 / 7] + many(lambda: power(-10, 10, True)),
    "sinh": TINY + around(1.0) + [710.4, -710.4, 22.0] + many(lambda: power(-10, 9, True)),
    "cosh": TINY + around(1.0) + [710.4, -710.4, 22.0] + many(lambda: power(-10, 9, True)),
    "tanh": TINY + around(LN2 / 4) + [19.06, 22.0, -18.7] + many(lambda: power(-10, 5, True)),
    "asinh": TINY + around(0.4) + [1e160, -1e308, 2.0**500] + many(lambda: power(-20, 60, True)),
    "acosh": around(1.0, 3)[1:]
    + [1.5, 1e160, 1e308, 2.0**500]
    + many(lambda: power(0, 60))
    + many(lambda: 1 + power(-50, 1)),
    "atanh": TINY
    + UNIT[:12]
    + [0.9999999999999999, -0.9999999999999999]
    + many(lambda: random.uniform(-1, 1)),
    "erf": TINY
    + around(1 / 256)
    + [5.9, -5.95, 6.1]
    + many(lambda: random.uniform(-6, 6))
    + many(lambda: power(-30, 2, True)),
    "erfc": TINY + [26.5, 27.2, -5.9, 4.0, 0.0078125] + many(lambda: random.uniform(-6, 27.2)),
    "cbrt": TINY + [8.0, 27.0, -1000.0, 1e300] + many(lambda: power(-1000, 1000, True)),
}


def x_positive(cases):
    return [x for x in cases if x > 1 or x == 1]


# The worst arguments that were ever found.
CASES["log1p"] += [-0.2931637490813653, 0.41176758725512685]
CASES["asinh"] += [0.3523025134967096, 0.3517233755673943]
CASES["acosh"] += [1.0596548074903593, 1.059561666434278]
CASES["atanh"] += [0.17036037642381802, 0.1711701309126079]

CASES["acosh"] = x_positive(CASES["acosh"])
CASES["log"] += [1.4024113081796046, 1.414017900400334, 1.395814837049244, 1.3334366159892397]
CASES["log"] = [x for x in CASES["log"] if x > 0]
CASES["log2"] = CASES["log10"] = CASES["log"]

PAIRS = {
    "pow": many(lambda: (power(-20, 20), random.uniform(-30, 30)), 60)
    + many(lambda: (random.uniform(0.99, 1.01), power(0, 14, True)), 40)
    + [
        (-2.0, 3.0),
        (-1.5, 4.0),
        (5e-324, 0.5),
        (1e-310, -0.9),
        (1.0000000000000002, 1e18),
        (0.9999999999999999, 1e18),
    ]
    + [(2.0, -1074.0), (2.0, -1073.5), (2.0, 1023.5), (10.0, 308.0), (0.1, 323.0), (10.0, 22.0)],
    "atan2": many(lambda: (power(-10, 10, True), power(-10, 10, True)), 60)
    + many(lambda: (power(-1022, 1023, True), power(-1022, 1023, True)), 30)
    + [(5e-324, 5e-324), (5e-324, -1e-310), (1e308, 1e308), (1e-300, 1e300), (1e-5, -1e308)]
    + [(-1.0677680490302937, 2.514258721514298)],
    "hypot": many(lambda: (power(-10, 10, True), power(-10, 10, True)), 60)
    + [
        (3.0, 4.0),
        (5e-324, 5e-324),
        (1e-310, 2e-310),
        (1e308, 1e308),
        (1e300, 1e-300),
        (2.0**500, 2.0**499),
    ],
    "logaddexp": many(lambda: (random.uniform(0, 10), random.uniform(0, 10)), 60)
    + many(lambda: (random.uniform(0, 1), random.uniform(0, 1)), 60)
    + [(0.42989639417327824, 0.10548061171141213), (0.5005471095892347, 0.05837787674421069)]
    + [(0.0, 0.0), (0.0, -36.0), (0.0, -700.0), (0.0, -601.0), (1e300, 1e300), (-1000.0, -1000.5)],
}


def cube_root(x):
    return mp.sign(x) * mp.cbrt(abs(x))


SPECIAL = {
    "exp2": lambda x: mp.power(2, x),
    "log2": lambda x: mp.log(x, 2),
    "cbrt": cube_root,
    "pow": mp.power,
    "logaddexp": lambda x, y: mp.log(mp.exp(x) + mp.exp(y)),
}


def show(name, arguments, exact):
    rounded = nearest(exact)
    if math.isinf(rounded) or exact == 0:
        return
    unit = mp.mpf(math.ulp(rounded))
    more = (exact - mp.mpf(rounded)) / unit
    words = " ".join(f"{bits(x):016x}" for x in arguments)
    print(f"{name} {words} {bits(rounded):016x} {mp.nstr(more, 4)}")


def nearest(exact):
    """The nearest float; mpmath's own conversion rounds subnormals twice."""
    if exact == 0:
        return 0.0
    _, exponent = mp.frexp(abs(exact))
    last = max(exponent - 53, -1074)
    try:
        return math.ldexp(int(mp.nint(mp.ldexp(exact, -last))), last)
    except OverflowError:
        return math.inf


def main():
    for name, arguments in CASES.items():
        f = SPECIAL.get(name) or getattr(mp, name)
        for x in arguments:
            show(name, [x], f(mp.mpf(x)))
    for name, arguments in PAIRS.items():
        f = SPECIAL.get(name) or getattr(mp, name)
        for x, y in arguments:
            show(name, [x, y], f(mp.mpf(x), mp.mpf(y)))


main()
