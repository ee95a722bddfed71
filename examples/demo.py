"""The main job: move an array among four ranks, explained, checked and drawn."""

import sys
import time
from pathlib import Path

import numpy as np

import partita as pt

N_RANKS = 4
SMALL = (12, 20)
LARGE = (4096, 4096)
SOURCE, TARGET = "block, * @ 4x1", "cyclic(64), cyclic(64) @ 2x2"


def held(array: np.ndarray, layout: pt.Layout, rank: int) -> np.ndarray:
    """What a rank holds of an array."""
    shape = layout.local_shape(rank)
    local = np.indices(shape).reshape(len(shape), -1).T
    return array[tuple(layout.globalize(rank, local).T)].reshape(shape)


def move(team: pt.Team, array: np.ndarray, plan: pt.Plan) -> float:
    """Move this rank's part; give the best of five times."""
    local = held(array, plan.source, team.rank)
    moved = plan.apply(local, team)
    times = []
    for _ in range(5):
        team.barrier()
        start = time.perf_counter()
        plan.apply(local, team, out=moved)
        times.append(time.perf_counter() - start)
    np.testing.assert_array_equal(moved, held(array, plan.target, team.rank))
    return min(times)


def main(folder: Path) -> None:
    """Print and draw two layouts and the plan between them, then run a large one."""
    source = pt.Layout(SMALL, "block+halo(1,1), * @ 4x1")
    target = pt.Layout(SMALL, "cyclic(2), cyclic(5) @ 2x2")
    small = pt.plan(source, target)
    print(source, target, sep="\n\n", end="\n\n")
    for name, picture in (("source", source), ("target", target), ("plan", small)):
        (folder / f"{name}.svg").write_text(picture.draw())

    plan = pt.plan(pt.Layout(LARGE, SOURCE), pt.Layout(LARGE, TARGET))
    print(plan.explain())
    array = np.random.default_rng(0).random(LARGE)
    seconds = max(pt.spmd(move, N_RANKS, (array, plan)))
    print(f"{N_RANKS} ranks moved {array.nbytes >> 20} MiB, every element checked")
    print(f"measured {seconds * 1e3:.1f} ms, predicted {plan.predicted_seconds * 1e3:.1f} ms")
    print(f"pictures: {folder}/source.svg, {folder}/target.svg, {folder}/plan.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
