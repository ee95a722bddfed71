"""The main job: move an array among four ranks, explained, checked and drawn."""

import sys
import time
from pathlib import Path

import numpy as np

import partita as pt

N_RANKS = 4
SMALL = (8, 24)
LARGE = (4096, 4096)
SOURCE, TARGET = "block, * @ 4x1", "cyclic(64), cyclic(64) @ 2x2"

NEXT = """
Next:
  partita show 16x16 "block, cyclic(2) @ 2x2"                          a layout of your own
  partita plan 8192x8192 "block, * @ 4x1" "*, block @ 1x4"             what a movement costs
  partita plan 1048576x1048576 "block, block @ 1024x1024" "cyclic(64), cyclic(64) @ 1024x1024"
  README.md, "In Python"                                               the same in a program
(the command is .venv/bin/partita; `. .venv/bin/activate` puts it on the path)"""


def held(array: np.ndarray, layout: pt.Layout, rank: int) -> np.ndarray:
    """What a rank holds of an array."""
    shape = layout.local_shape(rank)
    local = np.indices(shape).reshape(len(shape), -1).T
    return array[tuple(layout.globalize(rank, local).T)].reshape(shape)


def move(team: pt.Team, array: np.ndarray, plan: pt.Plan) -> tuple[float, float]:
    """Move this rank's part and back again; give the best of five times each way."""
    local = held(array, plan.source, team.rank)
    moved = plan.apply(local, team)
    np.testing.assert_array_equal(moved, held(array, plan.target, team.rank))
    back = plan.adjoint().apply(moved, team)
    np.testing.assert_array_equal(back, local)
    ways = ((plan, local, moved), (plan.adjoint(), moved, back))
    return tuple(best_of_five(team, *way) for way in ways)


def best_of_five(team: pt.Team, plan: pt.Plan, local: np.ndarray, out: np.ndarray) -> float:
    """Seconds that the movement takes."""
    times = []
    for _ in range(5):
        team.barrier()
        start = time.perf_counter()
        plan.apply(local, team, out=out)
        times.append(time.perf_counter() - start)
    return min(times)


def copy_seconds(array: np.ndarray) -> float:
    """What one plain copy of the whole array takes on one core."""
    target = array.copy()
    times = []
    for _ in range(5):
        start = time.perf_counter()
        np.copyto(target, array)
        times.append(time.perf_counter() - start)
    return min(times)


def main(folder: Path) -> None:
    """Run a large movement, explain it, and draw a small one."""
    folder.mkdir(exist_ok=True)
    array = np.random.default_rng(0).random(LARGE)
    n_mib = array.nbytes >> 20
    print(f"{N_RANKS} ranks hold an array of {n_mib} MiB by rows and move it to tiles of 64x64:\n")
    plan = pt.plan(pt.Layout(LARGE, SOURCE), pt.Layout(LARGE, TARGET))
    print(plan.explain())
    there, back = map(max, zip(*pt.spmd(move, N_RANKS, (array, plan)), strict=True))
    copied = copy_seconds(array)
    print(f"moved in        {there * 1e3:6.1f} ms, every element checked")
    print(f"and back in     {back * 1e3:6.1f} ms, by the same plan reversed")
    print(f"a plain copy is {copied * 1e3:6.1f} ms, on one core without any ranks\n")

    source = pt.Layout(SMALL, "block, * @ 4x1")
    target = pt.Layout(SMALL, "cyclic(2), cyclic(4) @ 2x2")
    print("The same in small, a letter for each rank. Before, and after:\n")
    print(source, target, sep="\n\n")
    for name, picture in (
        ("source", source),
        ("target", target),
        ("plan", pt.plan(source, target)),
    ):
        (folder / f"{name}.svg").write_text(picture.draw())
    print(f"\ndrawn in {folder}/source.svg, {folder}/target.svg and {folder}/plan.svg")
    print(NEXT)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
