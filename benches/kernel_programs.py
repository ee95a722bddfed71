"""The programs of benches/kernels.py in every peer's own words."""

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numba
import numexpr
import numpy as np
from c_loops import N_LONG, SIDE, Library, Work, numbers
from jax.scipy.special import erf as jax_erf

jax.config.update("jax_enable_x64", True)

N_OPTIONS = 10_000_000
SIZES = {"0.5 MB": 1 << 14, "32 MB": 1_000_000, "960 MB": 30_000_000}
GROUPS = ("sqrt8", "poly8", "jacobi", "scholes", "reduce", "small")

Case = dict[str, Work]

TEXTS = {
    "sqrt8": "sqrt(a * a + b * b) * 0.5 + (c - a) * b",
    "poly8": "((a * b + c) * a - 0.25) * (b * c + 3) + a",
    "thirty": "a" + "".join(f" + c * {k}.5 - b" for k in range(10)),
}


def formula(name: str, sqrt: Callable) -> Callable:
    """An expression as a function, with this library's square root."""
    return eval(f"lambda a, b, c: {TEXTS[name]}", {"sqrt": sqrt})


def elementwise(scalar: Callable, *, parallel: bool) -> Callable:
    """A loop over three inputs, compiled by numba."""
    one = numba.njit(scalar)

    def loop(a, b, c, out):
        for i in numba.prange(len(a)):
            out[i] = one(a[i], b[i], c[i])

    return numba.njit(loop, parallel=parallel)


def jitted(function: Callable, *arrays: np.ndarray) -> Work:
    """A call of a function compiled by JAX, waiting for its result."""
    compiled, inputs = jax.jit(function), [jnp.asarray(array) for array in arrays]
    return lambda: jax.block_until_ready(compiled(*inputs))


def expression(name: str, n: int, library: Library, n_threads: int) -> Case:
    """One of the two expressions of eight operations."""
    a, b, c, out = arrays = [numbers(n, place) for place in range(4)]
    loop = elementwise(formula(name, np.sqrt), parallel=n_threads > 1)
    plain, inputs = formula(name, np.sqrt), {"a": a, "b": b, "c": c}
    case: Case = {
        "numba": lambda: loop(a, b, c, out),
        "numexpr": lambda: numexpr.evaluate(TEXTS[name], inputs, out=out),
        "JAX": jitted(formula(name, jnp.sqrt), a, b, c),
        "C": library.work(name, [out, *arrays[:3]], n),
    }
    return case | ({"NumPy": lambda: plain(a, b, c)} if n_threads == 1 else {})


def jacobi(library: Library, n_threads: int) -> dict[str, Case]:
    """The mean of four neighbours, and the triad to compare with."""
    place, other, third = (numbers(SIDE * SIDE, place) for place in range(3))
    grid, out = place.reshape(SIDE, SIDE), other.reshape(SIDE, SIDE)

    def loop(grid, out):
        for i in numba.prange(1, len(grid) - 1):
            for j in range(1, len(grid) - 1):
                ends = grid[i - 1, j] + grid[i + 1, j]
                out[i, j] = 0.25 * (ends + (grid[i, j - 1] + grid[i, j + 1]))

    def mean(grid):
        ends = grid[:-2, 1:-1] + grid[2:, 1:-1]
        return 0.25 * (ends + (grid[1:-1, :-2] + grid[1:-1, 2:]))

    views = {"n": grid[:-2, 1:-1], "s": grid[2:, 1:-1], "w": grid[1:-1, :-2], "e": grid[1:-1, 2:]}
    compiled = numba.njit(loop, parallel=n_threads > 1)
    text = "0.25 * (n + s + (w + e))"
    case: Case = {
        "numba": lambda: compiled(grid, out),
        "numexpr": lambda: numexpr.evaluate(text, views, out=out[1:-1, 1:-1]),
        "JAX": jitted(mean, grid),
        "C": library.work("jacobi", [other, place], SIDE),
    }
    if n_threads == 1:
        case["NumPy"] = lambda: mean(grid)
    triad = library.work("triad", [other, place, third], SIDE * SIDE)
    return {"jacobi 4096": case, "triad": {"C": triad}}


def prices(sqrt: Callable, log: Callable, exp: Callable, erf: Callable) -> Callable:
    """Calls and puts as kernels and C have them, with these functions."""

    def price(s, x, t):
        spread = 0.2 * sqrt(t)
        d1 = (log(s / x) + 0.12 * t) / spread
        n1 = 0.5 + 0.5 * erf(d1 * 0.7071067811865476)
        n2 = 0.5 + 0.5 * erf((d1 - spread) * 0.7071067811865476)
        strike = x * exp(-0.1 * t)
        return s * n1 - strike * n2, strike * (1.0 - n2) - s * (1.0 - n1)

    return price


def black_scholes(library: Library, n_threads: int) -> dict[str, Case]:
    """Ten million options; NumPy and numexpr have no error function."""
    s, x, t, call, put = (numbers(N_OPTIONS, place) for place in range(5))
    one = numba.njit(prices(math.sqrt, math.log, math.exp, math.erf))

    def loop(s, x, t, call, put):
        for i in numba.prange(len(s)):
            call[i], put[i] = one(s[i], x[i], t[i])

    compiled = numba.njit(loop, parallel=n_threads > 1)
    case: Case = {
        "numba": lambda: compiled(s, x, t, call, put),
        "JAX": jitted(prices(jnp.sqrt, jnp.log, jnp.exp, jax_erf), s, x, t),
        "C": library.work("black_scholes", [call, put, s, x, t], N_OPTIONS),
    }
    return {"black-scholes": case}


def reductions(library: Library, n_threads: int) -> dict[str, Case]:
    """Sum, smallest, largest and where, beside four read streams."""
    x = numbers(N_LONG, 0)
    names = ("sum", "min", "max", "argmax")
    cases: dict[str, Case] = {"read4": {"C": library.work("read4", [x], N_LONG)}}
    for name in names:
        case: Case = {"JAX": jitted(getattr(jnp, name), x)}
        if n_threads == 1:
            case["NumPy"] = getattr(x, name)
        if name != "argmax":
            case["numexpr"] = lambda name=name: numexpr.evaluate(f"{name}(x)", {"x": x})
        cases[name] = case
    return cases


def small(library: Library) -> dict[str, Case]:
    """A call on 64 elements, from the language of the peer."""
    return {"call of 64": expression("poly8", 64, library, 1)}


def cases(group: str, library: Library, n_threads: int) -> dict[str, Case]:
    """The programs of a group by the names that the kernels' bench gives them."""
    if group in ("sqrt8", "poly8"):
        sizes = SIZES.items()
        return {f"{group} {size}": expression(group, n, library, n_threads) for size, n in sizes}
    if group == "small":
        return small(library) if n_threads == 1 else {}
    makers = {"jacobi": jacobi, "scholes": black_scholes, "reduce": reductions}
    return makers[group](library, n_threads)


def compilations() -> Case:
    """What it takes each peer to make a program of thirty operations."""
    arrays = [numbers(64, place) for place in range(4)]
    a, b, c, out = arrays

    def by_numba() -> None:
        elementwise(formula("thirty", np.sqrt), parallel=False)(a, b, c, out)

    def by_jax() -> None:
        jax.jit(formula("thirty", jnp.sqrt)).lower(a, b, c).compile()

    def by_numexpr() -> None:
        numexpr.NumExpr(TEXTS["thirty"], [(name, np.float64) for name in "abc"])

    return {"numba": by_numba, "JAX": by_jax, "numexpr": by_numexpr}
