"""Writes src/math/coefficients.rs: polynomials, split constants and tables.

Run: python3 tools/coefficients.py > src/math/coefficients.rs   (needs mpmath)

A polynomial is the interpolant at Chebyshev nodes, computed with 60 digits and rounded; the comment
over it has the relative error of the whole approximation it is part of. Where few coefficients of
float32 must do, it is Remez's instead, and every coefficient makes good for the rounding of those
before it. Split constants are sums
of float64, the leading ones rounded, or cut to few bits where products with them must be exact.
"""

import struct

import mpmath as mp

mp.mp.dps = 60


def literal(value):
    bits = struct.unpack("<Q", struct.pack("<d", float(value)))[0]
    return f"f64::from_bits(0x{bits:016x})"


def emit(doc, name, values):
    print(f"\n/// {doc}")
    print(f"pub(super) const {name}: [f64; {len(values)}] = [")
    for value in values:
        print(f"    {literal(value)},")
    print("];")


def emit_single(doc, name, values):
    print(f"\n/// {doc}")
    print(f"pub(super) const {name}: [f32; {len(values)}] = [")
    for value in values:
        bits = struct.unpack("<I", struct.pack("<f", float(value)))[0]
        print(f"    f32::from_bits(0x{bits:08x}),")
    print("];")


def emit_table(doc, name, rows):
    width = len(rows[0])
    print(f"\n/// {doc}")
    print(f"pub(super) static {name}: [[f64; {width}]; {len(rows)}] = [")
    for row in rows:
        print("    [" + ", ".join(literal(value) for value in row) + "],")
    print("];")


def interpolate(f, low, high, degree):
    low, high = mp.mpf(low), mp.mpf(high)
    nodes = [
        (low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * (2 * i + 1) / (2 * degree + 2))
        for i in range(degree + 1)
    ]
    powers = mp.matrix(degree + 1, degree + 1)
    for i, x in enumerate(nodes):
        for j in range(degree + 1):
            powers[i, j] = x**j
    solution = mp.lu_solve(powers, mp.matrix([f(x) for x in nodes]))
    return list(solution)


def fit(doc, name, f, low, high, degree, whole, exact, emit=emit):
    """Interpolates f; `whole(x, p)` is the approximation of `exact(x)` that uses p = f(x)."""
    values = interpolate(f, low, high, degree)
    worst = mp.mpf(0)
    for i in range(301):
        x = mp.mpf(low) + (mp.mpf(high) - low) * i / 300
        if x == 0 or exact(x) == 0:
            continue
        p = mp.polyval(values[::-1], x)
        worst = max(worst, abs(whole(x, p) / exact(x) - 1))
    emit(f"{doc} Relative error 2^{mp.nstr(mp.log(worst, 2), 4)}.", name, values)


def alternate(f, weight, points, degree):
    """The polynomial with the least weighted error on the points, by Remez's exchange."""
    n = degree + 2
    chosen = [
        points[round((len(points) - 1) * (1 - mp.cos(mp.pi * i / (n - 1))) / 2)] for i in range(n)
    ]
    values, weights = {x: f(x) for x in points}, {x: weight(x) for x in points}
    for _ in range(12):
        system = mp.matrix(n, n)
        for i, x in enumerate(chosen):
            for j in range(degree + 1):
                system[i, j] = x**j
            system[i, degree + 1] = (-1) ** i / weights[x]
        found = list(mp.lu_solve(system, mp.matrix([values[x] for x in chosen])))[:-1]
        errors = [(mp.polyval(found[::-1], x) - values[x]) * weights[x] for x in points]
        chosen = extremes(points, errors, n) or chosen
    return found


def extremes(points, errors, n):
    """The n points of alternating largest errors, or none if there are fewer."""
    runs = []
    for x, error in zip(points, errors, strict=True):
        if runs and (runs[-1][1] > 0) == (error > 0):
            runs[-1] = max(runs[-1], (x, error), key=lambda pair: abs(pair[1]))
        else:
            runs.append((x, error))
    while len(runs) > n:
        runs.pop(0 if abs(runs[0][1]) < abs(runs[-1][1]) else -1)
    return [x for x, _ in runs] if len(runs) == n else None


def fit_single(doc, name, f, low, high, degree, weight):
    """Float32 coefficients of f; `weight` makes its error the one that counts."""
    points = [mp.mpf(low) + (mp.mpf(high) - low) * (i + mp.mpf("0.5")) / 300 for i in range(300)]
    fixed = []
    while len(fixed) <= degree:
        k = len(fixed)
        rest = lambda x: (f(x) - mp.polyval(fixed[::-1], x)) / x**k  # noqa: B023
        pull = lambda x: weight(x) * abs(x) ** k  # noqa: B023
        found = alternate(rest, pull, points, degree - k)
        # The others can make good for a rounding on one side of zero only.
        fixed += [single(c) for c in (found[:1] if low >= 0 else found)]
    worst = max(abs(weight(x) * (mp.polyval(fixed[::-1], x) - f(x))) for x in points)
    emit_single(f"{doc} Error 2^{mp.nstr(mp.log(worst, 2), 4)}.", name, fixed)


def series(term, count=60):
    """The power series sum of term(k) x^k."""
    terms = [term(k) for k in range(count)]
    return lambda x: mp.polyval(terms[::-1], x)


def single(value):
    return mp.mpf(struct.unpack("<f", struct.pack("<f", float(value)))[0])


def split(value, parts, rounded=lambda value: mp.mpf(float(value))):
    result = []
    for _ in range(parts):
        result.append(rounded(value))
        value -= result[-1]
    return result


def cut(value, bits):
    """The value cut to a multiple of 2^-bits, and the rest."""
    head = mp.floor(value * mp.mpf(2) ** bits) / mp.mpf(2) ** bits
    return [head, value - head]


def exponentials():
    half = mp.log(2) / 2 * mp.mpf("1.0001")
    tail = series(lambda k: 1 / mp.factorial(k + 2))
    whole = lambda r, p: 1 + r + r * r * p
    fit("(e^r - 1 - r) / r^2 for |r| <= ln(2) / 2.", "EXP", tail, -half, half, 9, whole, mp.exp)
    fit("The same, for float32.", "EXP32", tail, -half, half, 4, whole, mp.exp)
    cubic = series(lambda k: 2 / mp.factorial(k + 3))
    whole = lambda r, p: r + r * r / 2 * (1 + r * p)
    doc = "2 (e^r - 1 - r - r^2 / 2) / r^3."
    fit(doc, "EXPM1", cubic, -half, half, 9, whole, mp.expm1)
    emit("ln 2 in parts.", "LN2", split(mp.log(2), 3))
    emit("1 / ln 2 in parts.", "LOG2_E", split(1 / mp.log(2), 2))


def logarithms():
    z_max = (3 - 2 * mp.sqrt(2)) ** 2 * mp.mpf("1.001")
    tail = series(lambda k: mp.mpf(2) / (2 * k + 3))
    whole = lambda z, p: mp.sqrt(z) * (2 + z * p)
    exact = lambda z: 2 * mp.atanh(mp.sqrt(z))
    doc = (
        "(2 atanh(s) - 2 s) / s^3 in s^2, for s = f / (2 + f), 1 + f between sqrt(1/2) and sqrt(2)."
    )
    fit(doc, "LOG", tail, 0, z_max, 6, whole, exact)
    emit(
        "ln 2, cut so that products with exponents are exact, and the rest.",
        "LN2_CUT",
        cut(mp.log(2), 42),
    )
    emit("The same of log10(2).", "LOG10_2_CUT", cut(mp.log10(2), 42))
    emit("1 / ln 10 in parts.", "LOG10_E", split(1 / mp.log(10), 2))


def trigonometry():
    z_max = (mp.pi / 4) ** 2 * mp.mpf("1.01")
    sine = series(lambda k: (-1) ** (k + 1) / mp.factorial(2 * k + 3))
    cosine = series(lambda k: (-1) ** k / mp.factorial(2 * k + 4))
    sine_whole = lambda z, p: mp.sqrt(z) * (1 + z * p)
    cosine_whole = lambda z, p: 1 - z / 2 + z * z * p
    sin, cos = (lambda z: mp.sin(mp.sqrt(z))), (lambda z: mp.cos(mp.sqrt(z)))
    fit("(sin(r) - r) / r^3 in r^2, for |r| <= pi / 4.", "SIN", sine, 0, z_max, 5, sine_whole, sin)
    fit("(cos(r) - 1 + r^2 / 2) / r^4 in r^2.", "COS", cosine, 0, z_max, 5, cosine_whole, cos)
    emit("pi / 2 in parts.", "HALF_PI", split(mp.pi / 2, 3))
    emit("2 / pi.", "TWO_OVER_PI", [2 / mp.pi])
    bits = int(mp.floor(two_over_pi(1280) * mp.mpf(2) ** 1280))
    words = [0] + [(bits >> (1280 - 64 * (i + 1))) & (2**64 - 1) for i in range(20)]
    print("\n/// A word of zeros, then the bits of 2 / pi after the point.")
    print(f"pub(super) const TWO_OVER_PI_BITS: [u64; {len(words)}] = [")
    for word in words:
        print(f"    0x{word:016x},")
    print("];")


def two_over_pi(bits):
    mp.mp.prec = bits + 64
    value = 2 / mp.pi
    return value


def inverse_trigonometry():
    z_max = (mp.mpf(7) / 16) ** 2 * mp.mpf("1.01")
    atan = series(lambda k: mp.mpf((-1) ** (k + 1)) / (2 * k + 3), 120)
    whole = lambda z, p: mp.sqrt(z) * (1 + z * p)
    doc = "(atan(t) - t) / t^3 in t^2, for |t| <= 7 / 16."
    fit(doc, "ATAN", atan, 0, z_max, 11, whole, lambda z: mp.atan(mp.sqrt(z)))
    emit("atan(1 / 2) in parts.", "ATAN_HALF", split(mp.atan(mp.mpf(1) / 2), 2))
    emit("pi / 4 in parts.", "QUARTER_PI", split(mp.pi / 4, 2))
    emit("pi in parts.", "PI", split(mp.pi, 2))
    double_factorials = lambda k: mp.binomial(2 * k + 2, k + 1) / mp.mpf(4) ** (k + 1) / (2 * k + 3)
    asin = series(double_factorials, 150)
    doc = "(asin(s) - s) / s^3 in s^2, for |s| <= 1 / 2."
    fit(doc, "ASIN", asin, 0, mp.mpf("0.2501"), 12, whole, lambda z: mp.asin(mp.sqrt(z)))


def hyperbolics():
    sinh = series(lambda k: 1 / mp.factorial(2 * k + 3))
    whole = lambda z, p: mp.sqrt(z) * (1 + z * p)
    doc = "(sinh(x) - x) / x^3 in x^2, for |x| <= 1."
    fit(doc, "SINH", sinh, 0, mp.mpf("1.001"), 6, whole, lambda z: mp.sinh(mp.sqrt(z)))


def errors():
    rows = []
    for i in range(6 * 128 + 1):
        r = mp.mpf(i) / 128
        value = split(mp.erf(r), 2)
        slope = split(2 / mp.sqrt(mp.pi) * mp.exp(-r * r), 2)
        rows.append([value[0], slope[0], value[1], slope[1]])
    rows += [[mp.mpf(0)] * 4] * (1024 - len(rows))
    doc = "erf(i / 128) and its derivative, and the second parts of both. Rows after 6 are for NaN."
    emit_table(doc, "ERF", rows)
    scaled = lambda x: (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x) - 1
    of_t = lambda t: scaled(4 * (1 + t) / (1 - t))
    doc = "(1 + 2 x) e^(x^2) erfc(x) - 1 in t = (x - 4) / (x + 4), for 0 <= x <= 28."
    fit(doc, "ERFC", of_t, -1, mp.mpf(24) / 32, 23, lambda t, p: 1 + p, lambda t: 1 + of_t(t))
    slope = interpolate(lambda t: mp.diff(of_t, t), mp.mpf("-0.999"), mp.mpf(24) / 32, 4)
    emit("Its derivative, roughly.", "ERFC_SLOPE", slope)


def roots():
    seed = lambda m: m ** (-mp.mpf(1) / 3)
    doc = "m^(-1/3) for 1 <= m < 2."
    fit(doc, "CBRT", seed, 1, 2, 5, lambda m, p: p, seed)
    emit(
        "2^(-j/3) for j = 0, 1, 2.", "CBRT_STEP", [mp.mpf(2) ** (-mp.mpf(j) / 3) for j in range(3)]
    )


# Mantissas z from here up to twice here are cut into 128 intervals by their leading bits.
POW_FIRST = 0x3FE6955500000000


def float_of(bits):
    return mp.mpf(struct.unpack("<d", struct.pack("<Q", bits))[0])


def powers():
    rows, widest = [], mp.mpf(0)
    for i in range(128):
        low, high = (float_of(POW_FIRST + (j << 45)) for j in (i, i + 1))
        inverse = 2 / (low + high)
        # Few bits, so that z * inverse - 1 is exact.
        unit = 256 if inverse < 1 else 128
        inverse = (
            mp.mpf(1) if abs(inverse - 1) < mp.mpf(2) ** -8 else mp.nint(inverse * unit) / unit
        )
        widest = max(widest, abs(low * inverse - 1), abs(high * inverse - 1))
        head = mp.nint(-mp.log(inverse) * 2**42) / mp.mpf(2) ** 42
        rows.append([inverse, mp.mpf(0), head, -mp.log(inverse) - head])
    doc = (
        "An inverse near the middle of interval i, unused, -log of it cut to 42 bits and the rest."
    )
    emit_table(doc, "POW", rows)
    tail = series(lambda k: mp.mpf((-1) ** k) / (k + 3))
    doc = "(log(1 + r) - r + r^2 / 2) / r^3 for the mantissas times their inverses."
    whole = lambda r, p: r - r * r / 2 + r**3 * p
    fit(doc, "POW_LOG", tail, -widest, widest, 5, whole, lambda r: mp.log(1 + r))


def singles():
    half = mp.log(2) / 2 * mp.mpf("1.0001")
    tail = series(lambda k: 1 / mp.factorial(k + 2))
    whole = lambda r, p: 1 + r + r * r * p
    fit(
        "(e^r - 1 - r) / r^2 for |r| <= ln(2) / 2.",
        "EXP_F",
        tail,
        -half,
        half,
        5,
        whole,
        mp.exp,
        emit_single,
    )
    emit_single(
        "ln 2, cut so that products with exponents are exact, and the rest.",
        "LN2_F",
        cut(mp.log(2), 15),
    )
    emit_single("1 / ln 2 in parts.", "LOG2_E_F", split(1 / mp.log(2), 2, single))
    of_f = lambda f: (
        (mp.log1p(f) - f) / f**2 if abs(f) > mp.mpf(10) ** -12 else f / 3 - mp.mpf(1) / 2
    )
    doc = "(log(1 + f) - f) / f^2 for |f| <= 1 / 3, relative to the logarithm."
    share = lambda f: abs(f**2 / mp.log1p(f))
    third = mp.mpf("0.33334")
    fit_single(doc, "LOG_F", of_f, -third, third, 8, share)
    z_max = (mp.pi / 4) ** 2 * mp.mpf("1.01")
    sine = series(lambda k: (-1) ** (k + 1) / mp.factorial(2 * k + 3))
    cosine = series(lambda k: (-1) ** k / mp.factorial(2 * k + 4))
    whole = lambda z, p: mp.sqrt(z) * (1 + z * p)
    fit(
        "(sin(r) - r) / r^3 in r^2.",
        "SIN_F",
        sine,
        0,
        z_max,
        3,
        whole,
        lambda z: mp.sin(mp.sqrt(z)),
        emit_single,
    )
    whole = lambda z, p: 1 - z / 2 + z * z * p
    fit(
        "(cos(r) - 1 + r^2 / 2) / r^4 in r^2.",
        "COS_F",
        cosine,
        0,
        z_max,
        2,
        whole,
        lambda z: mp.cos(mp.sqrt(z)),
        emit_single,
    )
    first, rest = cut(mp.pi / 2, 23)
    parts = [first, *split(rest, 2, single)]
    emit_single(
        "pi / 2 in parts, the second positive so that zeros keep their sign.", "HALF_PI_F", parts
    )
    emit_single("2 / pi.", "TWO_OVER_PI_F", [2 / mp.pi])
    single_exponentials()
    single_logarithms()
    single_angles()
    single_hyperbolics()
    single_errors()


def single_exponentials():
    half = mp.mpf("0.5001")
    over = lambda r: mp.expm1(r * mp.log(2)) / r
    doc = "(2^r - 1) / r for |r| <= 1 / 2, relative to the power."
    fit_single(doc, "EXP2_F", over, -half, half, 6, lambda r: abs(r) / mp.mpf(2) ** r)
    half = mp.log(2) / 2 * mp.mpf("1.0001")
    over = lambda r: (mp.expm1(r) - r - r * r / 2) / r**3
    doc = "(e^r - 1 - r - r^2 / 2) / r^3, relative to e^r - 1."
    fit_single(doc, "EXPM1_F", over, -half, half, 4, lambda r: abs(r**3 / mp.expm1(r)))


def single_logarithms():
    third = mp.mpf("0.33334")
    over = lambda f: (mp.log1p(f) - f + f * f / 2) / f**3
    doc = "(log(1 + f) - f + f^2 / 2) / f^3 for |f| <= 1 / 3, relative to the logarithm."
    fit_single(doc, "LOG_CUBIC_F", over, -third, third, 8, lambda f: abs(f**3 / mp.log1p(f)))
    emit_single("1 / ln 10 in parts.", "LOG10_E_F", split(1 / mp.log(10), 2, single))
    doc = "log10(2), cut so that products with exponents are exact, and the rest."
    emit_single(doc, "LOG10_2_F", cut(mp.log10(2), 14))


def single_angles():
    def odd(doc, name, f, z_max, degree):
        over = lambda z: (f(mp.sqrt(z)) / mp.sqrt(z) - 1) / z
        share = lambda z: z * mp.sqrt(z) / f(mp.sqrt(z))
        fit_single(f"{doc}, relative to the value.", name, over, 0, z_max, degree, share)

    quarter = (mp.pi / 4) ** 2 * mp.mpf("1.01")
    odd("(tan(r) - r) / r^3 in r^2 for |r| <= pi / 4", "TAN_F", mp.tan, quarter, 6)
    odd("(atan(t) - t) / t^3 in t^2 for |t| <= 1", "ATAN_F", mp.atan, mp.mpf(1), 8)
    odd("(asin(s) - s) / s^3 in s^2 for |s| <= 1 / 2", "ASIN_F", mp.asin, mp.mpf("0.2501"), 5)
    parts = split(mp.pi / 2, 2, single)
    emit_single("pi / 2 in parts, the first rounded.", "HALF_PI_ROUNDED_F", parts)


def single_hyperbolics():
    over = lambda z: (mp.tanh(mp.sqrt(z)) / mp.sqrt(z) - 1) / z
    doc = "(tanh(x) - x) / x^3 in x^2 for |x| <= 0.875, relative to the value."
    share = lambda z: z * mp.sqrt(z) / mp.tanh(mp.sqrt(z))
    fit_single(doc, "TANH_F", over, 0, mp.mpf("0.7657"), 6, share)
    quarter = mp.log(2) / 4 * mp.mpf("1.0001")
    over = series(lambda k: (-2) ** (k + 2) / mp.factorial(k + 2))
    doc = "(e^(-2 h) - 1 + 2 h) / h^2 for |h| <= ln(2) / 4."
    fit_single(doc, "TANH_EXP_F", over, -quarter, quarter, 4, lambda h: h * h)
    doc = "1 / (2 + w) for w = 2 e^(-2 x), x from 0.875."
    fit_single(doc, "TANH_SUM_F", lambda w: 1 / (2 + w), 0, mp.mpf("0.3476"), 4, lambda w: w * w)
    emit_single("-2 / ln 2.", "TANH_SCALE_F", [-2 / mp.log(2)])
    emit_single("ln(2) / 2.", "HALF_LN2_F", [mp.log(2) / 2])


def single_errors():
    over = lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1
    doc = "erf(x) / x - 1 in x^2 for |x| <= 0.875, relative to the value."
    share = lambda z: mp.sqrt(z) / mp.erf(mp.sqrt(z))
    fit_single(doc, "ERF_F", over, 0, mp.mpf("0.7657"), 6, share)
    root = lambda d: mp.sqrt(mp.erfc(1 + d))
    doc = "sqrt(erfc(1 + d)) for d from -0.125 to 2.95; the error is that of its square."
    fit_single(
        doc, "ERFC_ROOT_F", root, mp.mpf("-0.125"), mp.mpf("2.95"), 11, lambda d: 2 * root(d)
    )


def main():
    print("//! Written by tools/coefficients.py; do not edit.")
    exponentials()
    logarithms()
    inverse_trigonometry()
    hyperbolics()
    errors()
    roots()
    powers()
    singles()
    trigonometry()


main()
