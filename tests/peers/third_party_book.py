"""Runs the programs of "From Python to NumPy" (N. Rougier), from a checkout, with partita.

    python tests/peers/third_party_book.py PATH_TO_CHECKOUT [-r 1 2 4] [-k NAME ...]

Only the import of each program is changed, in memory. Graphics are left out: matplotlib is a
stand-in that does nothing. Random numbers are NumPy's for both, so that results can be compared.
Left out are programs without NumPy or without results, and those that NumPy 2 refuses itself
(`find_index`, `mandelbrot`, `smoke_2`).
"""

from __future__ import annotations

import argparse
import sys
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np
from third_party import _gathered, _words, difference, loaded

import partita as pt

Names = dict[str, Any]


class Drawn:
    """NumPy's random numbers, as arrays of partita."""

    def __init__(self) -> None:
        self._numbers = np.random.RandomState(7)

    def __getattr__(self, name: str) -> Any:
        def draw(*args: Any, **options: Any) -> Any:
            made = getattr(self._numbers, name)(*args, **options)
            return pt.asarray(made) if isinstance(made, np.ndarray) else made

        return draw


class Library:
    """partita, but for its random numbers."""

    def __init__(self) -> None:
        self.random = Drawn()

    def __getattr__(self, name: str) -> Any:
        return getattr(pt, name)


def game_of_life(names: Names) -> Any:
    for _ in range(5):
        names["update"]()
    return names["Z"], names["M"]


def gray_scott(names: Names) -> Any:
    names["update"](0)
    return names["u"], names["v"]


def boids(names: Names) -> Any:
    flock, marks = names["Flock"](60), names["MarkerCollection"](60)
    for _ in range(3):
        flock.run()
    velocity = flock.velocity
    marks._scale, marks._translate = 10, flock.position
    marks._rotate = names["np"].arctan2(velocity[:, 1], velocity[:, 0])
    marks.update()
    return flock.position, velocity, marks._vertices


def fractal_dimension(names: Names) -> Any:
    library = names["np"]
    return names["fractal_dimension"](library.random.uniform(0, 1, (64, 96)), 0.9)


def crossings(names: Names) -> Any:
    walk = names["random_walk_fastest"]()
    return walk, names["find_crossing_2"](walk, [+1, 0, -1])


def smoke(names: Names) -> Any:
    names["im"] = MagicMock()
    names["initialization"]()
    names["update"]()
    return names["u"], names["v"], names["dens"]


def maze(names: Names) -> Any:
    walls = names["build_maze"]((9, 13), 0.5, 0.25)
    start, goal = (1, 1), (walls.shape[0] - 2, walls.shape[1] - 2)
    gradient, path = names["BellmanFord"](walls, start, goal)
    return walls, gradient, path, names["BreadthFirst"](walls, start, goal)


def maze_steps(names: Names) -> Any:
    return tuple(names["build_maze"]((7, 9), 0.5, 0.25))


def mandelbrot(names: Names) -> Any:
    return names["mandelbrot"](-2.25, 0.75, -1.25, 1.25, 60, 50, 20)


def circles(names: Names) -> Any:
    points = names["np"].random.uniform(0, 1, (3, 2))
    return names["circumcircle"](points[0], points[1], points[2])


def vectorization(names: Names) -> Any:
    numbers = names["np"].arange(12)
    return tuple(names[f"compute_{k}"](numbers, numbers) for k in (1, 2, 3, 4))


def darts(names: Names) -> Any:
    return tuple(names["DART_sampling_numpy"](radius=0.2, k=20))


def bridson(names: Names) -> Any:
    return names["Bridson_sampling"](radius=0.3, k=4)


def poisson(names: Names) -> Any:
    return names["poisson_disk_sample"](radius=0.3, k=4)


def lists(names: Names) -> Any:
    library, made = names["np"], names["ArrayList"]()
    made.append(library.arange(4))
    made.append(library.arange(3))
    made.insert(1, library.arange(6), 2)
    del made[0]
    return made.data, made.itemsize, made[1]


def allocations(names: Names) -> Any:
    return names["solution_4"]()


def addition(names: Names) -> Any:
    return names["solution_2"]([[1, 2], [3, 4]], [[5, 6], [7, 8]])


CASES: dict[str, Callable[[Names], Any]] = {
    "Bridson_sampling": bridson,
    "DART_sampling_numpy": darts,
    "addition": addition,
    "allocations": allocations,
    "array_list": lists,
    "boid_numpy": boids,
    "fractal_dimension": fractal_dimension,
    "game_of_life_numpy": game_of_life,
    "gray_scott": gray_scott,
    "mandelbrot_numpy_1": mandelbrot,
    "mandelbrot_numpy_2": mandelbrot,
    "maze_build": maze_steps,
    "maze_numpy": maze,
    "mosaic": poisson,
    "random_walk": crossings,
    "sampling": bridson,
    "smoke_1": smoke,
    "vectorization": vectorization,
    "voronoi": circles,
}


def results(folder: Path, name: str, library: str) -> list[Any]:
    """What a program gives with one of the libraries."""
    solver = types.ModuleType("smoke_solver")
    solver.__dict__.update(loaded(folder / "smoke_solver.py", library))
    sys.modules["smoke_solver"] = solver
    if library == "numpy":
        np.random.seed(7)
        names = loaded(folder / f"{name}.py", library)
    else:
        # The library that a program imports, with random numbers of this rank.
        sys.modules[f"partita_{pt.world().rank}"] = Library()  # type: ignore[assignment]
        names = loaded(folder / f"{name}.py", f"partita_{pt.world().rank}")
    found = CASES[name](names)
    listed = found if isinstance(found, tuple) else (found,)
    return [np.asarray(_gathered(one)) for one in listed]


def tried(folder: Path, name: str, n_ranks: int) -> str:
    """How a program goes on so many ranks."""
    try:
        wanted = results(folder, name, "numpy")
    except Exception as error:
        return f"fails with NumPy: {_words(error)}"
    try:
        found = pt.spmd(lambda _team: results(folder, name, "partita"), ranks=n_ranks)
    except Exception as error:
        return f"fails: {_words(error)}"
    # Most of them compute in single precision.
    reasons = [difference(one, wanted, is_rough=True) for one in found]
    return next((f"differs: {reason}" for reason in reasons if reason), "equal")


def main() -> None:
    """Run what was asked for, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("-r", "--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("-k", "--only", nargs="+", default=sorted(CASES))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    graphics = ["animation", "collections", "path", "pyplot"]
    for name in ["matplotlib", *(f"matplotlib.{one}" for one in graphics)]:
        sys.modules[name] = MagicMock()
    n_equal = dict.fromkeys(given.ranks, 0)
    for name in given.only:
        for n_ranks in given.ranks:
            outcome = tried(given.checkout / "code", name, n_ranks)
            n_equal[n_ranks] += outcome == "equal"
            print(f"{name:20} {n_ranks}: {outcome}", flush=True)
    counted = ", ".join(f"{n} on {ranks}" for ranks, n in n_equal.items())
    print(f"equal of {len(given.only)}: {counted} ranks")


if __name__ == "__main__":
    main()
