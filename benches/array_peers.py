"""Measures torch.compile, Dask and Heat on array programs; benches/arrays.py starts it.

    python benches/array_peers.py

Prints JSON: seconds by case and peer. It runs with the neighbours' interpreter.
"""

import json
import os

import dask.array
import heat
import torch
import torch._inductor.config
from c_loops import elapsed

SIDE, N_OPTIONS = 4096, 10_000_000


def fastest(work, n_rounds: int = 4) -> float:
    """The shortest of some calls, after one that does not count."""
    work()
    return min(elapsed(work) for _ in range(n_rounds))


def mean(grid):
    """The inside after a step."""
    center, north, south = grid[1:-1, 1:-1], grid[:-2, 1:-1], grid[2:, 1:-1]
    return 0.2 * (center + north + south + grid[1:-1, 2:] + grid[1:-1, :-2])


def by_dask() -> float:
    """A step on chunks for two threads."""
    grid = dask.array.ones((SIDE, SIDE), chunks=(SIDE // 2, SIDE)).persist(num_workers=2)
    return fastest(lambda: mean(grid).compute(num_workers=2))


def by_heat() -> float:
    """A step on one process with two threads."""
    grid = heat.ones((SIDE, SIDE), dtype=heat.float64, split=0)

    def step() -> None:
        grid[1:-1, 1:-1] = mean(grid)

    return fastest(step)


def by_torch() -> float:
    """Ten million options, compiled."""

    @torch.compile
    def priced(price, strike, years):
        risk = 0.3 * torch.sqrt(years)
        ratio = (torch.log(price / strike) + 0.145 * years) / risk
        near = 0.5 + 0.5 * torch.erf(ratio * 0.5**0.5)
        far = 0.5 + 0.5 * torch.erf((ratio - risk) * 0.5**0.5)
        later = strike * torch.exp(-0.1 * years)
        call = price * near - later * far
        return call, call - price + later

    bounds = ((10.0, 50.0), (10.0, 50.0), (1.0, 2.0))
    given = [torch.linspace(*pair, N_OPTIONS, dtype=torch.float64) for pair in bounds]
    return fastest(lambda: priced(*given))


def main() -> None:
    """Measure and print."""
    torch.set_num_threads(2)
    if os.environ.get("PARTITA_SIMD") == "avx2":
        # The compiler asks the processor, whatever torch's own variables say.
        torch._inductor.config.cpp.simdlen = 256
    found = {
        "jacobi 4096": {"Dask": by_dask(), "Heat": by_heat()},
        "black-scholes": {"torch.compile": by_torch()},
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
