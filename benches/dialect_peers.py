"""Measures a step of shallow water by the peers; benches/dialects.py starts it.

    python benches/dialect_peers.py SIDE N_THREADS

Prints JSON: seconds by peer. A process of its own has its threads and instructions set from
outside, before any library looks at them.
"""

import json
import sys
from collections.abc import Callable

import jax
import numba
import numpy as np
from kernel_peers import best

jax.config.update("jax_enable_x64", True)

HALF_STEP, GRAVITY = 1e-4, 9.81


def shifted(x):
    """The inside, and what lies around each of its points: north, south, west, east."""
    return x[1:-1, 1:-1], x[:-2, 1:-1], x[2:, 1:-1], x[1:-1, :-2], x[1:-1, 2:]


def changes(h, u, v):
    """The inside of height and velocities after a step, as array libraries write it."""
    (hc, hn, hs, hw, he), (uc, un, us, uw, ue), (vc, vn, vs, vw, ve) = map(shifted, (h, u, v))
    height = hc - HALF_STEP * ((he * ue - hw * uw) + (hs * vs - hn * vn))
    east = uc - HALF_STEP * (uc * (ue - uw) + vc * (us - un) + GRAVITY * (he - hw))
    south = vc - HALF_STEP * (uc * (ve - vw) + vc * (vs - vn) + GRAVITY * (hs - hn))
    return height, east, south


def by_numpy(fields: list[np.ndarray]) -> None:
    """A step in place."""
    for old, new in zip(fields, changes(*fields), strict=True):
        old[1:-1, 1:-1] = new


def loop(h, u, v, h2, u2, v2):
    """The same point by point, into other arrays."""
    for i in numba.prange(1, h.shape[0] - 1):
        for j in range(1, h.shape[1] - 1):
            uc, vc = u[i, j], v[i, j]
            across = h[i, j + 1] * u[i, j + 1] - h[i, j - 1] * u[i, j - 1]
            along = h[i + 1, j] * v[i + 1, j] - h[i - 1, j] * v[i - 1, j]
            h2[i, j] = h[i, j] - HALF_STEP * (across + along)
            by_wind = uc * (u[i, j + 1] - u[i, j - 1]) + vc * (u[i + 1, j] - u[i - 1, j])
            u2[i, j] = uc - HALF_STEP * (by_wind + GRAVITY * (h[i, j + 1] - h[i, j - 1]))
            by_wind = uc * (v[i, j + 1] - v[i, j - 1]) + vc * (v[i + 1, j] - v[i - 1, j])
            v2[i, j] = vc - HALF_STEP * (by_wind + GRAVITY * (h[i + 1, j] - h[i - 1, j]))


def by_jax(fields: list[np.ndarray]) -> Callable[[], object]:
    """A step that gives new arrays."""

    def step(h, u, v):
        new = changes(h, u, v)
        return [old.at[1:-1, 1:-1].set(inside) for old, inside in zip((h, u, v), new, strict=True)]

    compiled = jax.jit(step)
    arrays = [jax.numpy.asarray(one) for one in fields]
    return lambda: jax.block_until_ready(compiled(*arrays))


def main() -> None:
    """Measure and print."""
    side, n_threads = int(sys.argv[1]), int(sys.argv[2])
    fields = [np.full((side, side), start) for start in (1.0, 0.1, 0.1)]
    others = [one.copy() for one in fields]
    compiled = numba.njit(loop, parallel=n_threads > 1)
    works = {
        "NumPy": lambda: by_numpy(fields),
        "numba": lambda: compiled(*fields, *others),
        "JAX": by_jax(fields),
    }
    print(json.dumps({peer: best(work) for peer, work in works.items()}))


if __name__ == "__main__":
    main()
