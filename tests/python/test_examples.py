"""The programs in `examples/`: NumPy and partita agree on any number of ranks; scripts draw."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import engines
import numpy as np
import pytest
from bodies_examples import EXAMPLES, agrees, agrees_elsewhere
from engines import Case
from places import MPIEXEC, Place, launchers

PLACES = [Place("threads", n) for n in (1, 2, 3, 4)]
PLACES.append(Place("mpi", 2, launchers()[0]))

# Sums have another order, and exp, sin and pow may differ from NumPy's in the last bit.
NEAR = 1e-12


class Example(NamedTuple):
    """A program with small numbers, what it may differ by, and the shape of its picture."""

    function: str
    numbers: dict[str, int]
    tolerance: float
    picture: tuple[int, int]


# Jacobi's stop is a largest value and the counts are integers: no order of sums is in the results.
PROGRAMS = {
    "wave": Example("simulate", {"size": 41, "steps": 120}, NEAR, (41, 41)),
    "shallow_water": Example("simulate", {"size": 33, "steps": 120}, NEAR, (33, 33)),
    "black_scholes": Example("prices", {"size": 29}, NEAR, (29, 29)),
    "stencil": Example("passes", {"size": 31, "steps": 5}, NEAR, (31, 31)),
    "jacobi": Example("solve", {"size": 21, "sweeps": 3000}, 0.0, (21, 21)),
    "channel_flow": Example("simulate", {"size": 21, "steps": 100}, NEAR, (21, 42)),
    "life": Example("play", {"size": 48, "steps": 120}, 0.0, (48, 48)),
    "mandelbrot": Example("escapes", {"size": 30, "steps": 40}, 0.0, (30, 45)),
    "conjugate_gradient": Example("solve", {"size": 25, "steps": 200}, NEAR, (25, 25)),
    "kmeans": Example("groups", {"points": 999, "steps": 20}, NEAR, (200, 200)),
    "nbody": Example("simulate", {"bodies": 31, "steps": 100}, NEAR, (100, 100)),
    "lattice_boltzmann": Example("simulate", {"size": 18, "steps": 100}, NEAR, (18, 72)),
    "schroedinger": Example("simulate", {"size": 30, "steps": 40}, NEAR, (30, 30)),
    "poisson": Example("solve", {"size": 45}, NEAR, (45, 45)),
    "pca": Example("components", {"rows": 999}, NEAR, (200, 200)),
    "logistic_regression": Example("learn", {"points": 999, "steps": 100}, NEAR, (200, 200)),
    "sparse_poisson": Example("solve", {"size": 30}, 1e-9, (30, 60)),
    "pagerank": Example("rank", {"scale": 8, "steps": 60}, NEAR, (16, 16)),
    "components": Example("connect", {"scale": 8, "steps": 60}, 0.0, (16, 16)),
    "heat_store": Example("simulate", {"size": 31, "steps": 200}, NEAR, (31, 31)),
}

# Three thousand sweeps take ten seconds where every row is a piece of its own.
SLOW = {"channel_flow"}


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_programs_give_what_numpy_gives(place: Place) -> None:
    run_together(
        place,
        [
            Case(name, agrees, (name, one.function, one.numbers, one.tolerance))
            for name, one in PROGRAMS.items()
        ],
    )


@pytest.mark.parametrize("layout", ["*, block", "cyclic(2)"])
def test_programs_give_the_same_in_other_layouts(layout: str) -> None:
    run_together(
        Place("threads", 3),
        [
            Case(name, agrees_elsewhere, (layout, name, one.function, one.numbers, one.tolerance))
            for name, one in PROGRAMS.items()
            if name not in SLOW
        ],
    )


def run_together(place: Place, cases: list[Case]) -> None:
    found = engines.run(place, cases)
    failures = [f"{name} at {place}:\n{one.failure}" for name, one in found.items() if one.failure]
    if failures:
        pytest.fail("\n".join(failures), pytrace=False)


def script(name: str) -> list[str]:
    """A script with its small numbers, as words of a command."""
    numbers = PROGRAMS[name].numbers.items()
    options = [word for option, number in numbers for word in (f"--{option}", str(number))]
    return [str(EXAMPLES / f"{name}.py"), *options]


def ran(*command: str, folder: Path) -> str:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=90, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def pixels(path: Path) -> Any:
    """What a picture shows, as (height, width, 3); it has no chunks but the three it needs."""
    content = path.read_bytes()
    width, height = struct.unpack(">II", content[16:24])
    (length,) = struct.unpack(">I", content[33:37])
    rows = np.frombuffer(zlib.decompress(content[41 : 41 + length]), np.uint8)
    return rows.reshape(height, 1 + 3 * width)[:, 1:].reshape(height, width, 3).astype(int)


@pytest.mark.parametrize("name", PROGRAMS)
def test_scripts_draw_the_same_with_either_switch(name: str, tmp_path: Path) -> None:
    words = script(name)
    by_numpy = ran(sys.executable, *words, "--numpy", "--picture", "numpy.png", folder=tmp_path)
    assert by_numpy.startswith("NumPy: ")
    by_partita = ran(sys.executable, "-m", "partita", "run", "-n", "2", *words, folder=tmp_path)
    assert by_partita.startswith("partita on 2 ranks: ")
    # All but the first line and the last are results.
    assert by_partita.splitlines()[1:-1] == by_numpy.splitlines()[1:-1]
    drawn = pixels(tmp_path / f"{name}.png")
    assert drawn.shape == (*PROGRAMS[name].picture, 3)
    assert drawn.std() > 0
    np.testing.assert_allclose(drawn, pixels(tmp_path / "numpy.png"), atol=1)


def test_a_plate_goes_through_files(tmp_path: Path) -> None:
    words = [str(EXAMPLES / "heat_store.py"), "--size", "31"]
    on_two = ("-m", "partita", "run", "-n", "2", *words)
    ran(sys.executable, *words, "--steps", "30", "--numpy", "--end", "all.npy", folder=tmp_path)
    ran(sys.executable, *on_two, "--steps", "10", "--end", "some.npy", folder=tmp_path)
    ends = ("--start", "some.npy", "--steps", "20", "--end", "some.npy")
    ran(sys.executable, *on_two, *ends, folder=tmp_path)
    wanted, found = (np.load(tmp_path / name) for name in ("all.npy", "some.npy"))
    np.testing.assert_allclose(found, wanted, rtol=NEAR, atol=NEAR)


def test_a_store_without_zarr_says_how_to_get_it(tmp_path: Path) -> None:
    # A library that cannot be imported stands before one that may be there.
    (tmp_path / "zarr.py").write_text("raise ModuleNotFoundError('zarr')")
    command = [sys.executable, str(EXAMPLES / "heat_store.py"), "--end", "plate.zarr"]
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == "plate.zarr is a Zarr store; use a .npy file, or `pip install zarr`\n"


def test_one_of_several_processes_speaks_and_draws(tmp_path: Path) -> None:
    said = ran(MPIEXEC, "-n", "2", sys.executable, *script("wave"), folder=tmp_path)
    assert said.count("partita on 2 ranks") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["wave.png"]


def test_the_demo_draws_explains_and_times(tmp_path: Path) -> None:
    said = ran(sys.executable, str(EXAMPLES / "demo.py"), "drawn", "--size", "90", folder=tmp_path)
    assert "2 exchanges of" in said
    assert "one of 20 programs" in said
    assert "partita, 4 ranks" in said
    pictures = {path.name for path in (tmp_path / "drawn").iterdir()}
    assert pictures == {*(f"wave{n}.png" for n in range(3)), "source.svg", "target.svg", "plan.svg"}
    assert all(f"drawn/{name}" in said for name in pictures)
    assert pixels(tmp_path / "drawn/wave2.png").shape == (90, 90, 3)
