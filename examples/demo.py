"""The main job in small: two layouts, the plan between them, and the plan run."""

import sys
from pathlib import Path

import numpy as np
import partita as pt

SHAPE = (12, 20)


def scatter(array: np.ndarray, layout: pt.Layout) -> dict[int, np.ndarray]:
    """What each rank holds of an array."""
    buffers = {}
    for rank in layout.ranks:
        shape = layout.local_shape(rank)
        local = np.indices(shape).reshape(len(shape), -1).T
        index = layout.globalize(rank, local)
        buffers[rank] = array[tuple(index.T)].reshape(shape)
    return buffers


def run(plan: pt.Plan, source: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
    """Every rank's moves, one after the other, by NumPy."""
    target = {rank: np.zeros(plan.target.local_shape(rank)) for rank in plan.target.ranks}
    for rank in plan.source.ranks:
        for move in plan.sends(rank):
            taken = source[rank][np.ix_(*move.source_indices())]
            target[move.target_rank][np.ix_(*move.target_indices())] = taken
    return target


def main(folder: Path) -> None:
    """Print both layouts and the plan, run it, and write the pictures."""
    source = pt.Layout(SHAPE, "block+halo(1,1), * @ 4x1")
    target = pt.Layout(SHAPE, "cyclic(2), cyclic(5) @ 2x2")
    plan = pt.plan(source, target)
    print(source, target, plan.explain(), sep="\n\n")

    array = np.arange(np.prod(SHAPE), dtype=float).reshape(SHAPE)
    moved = run(plan, scatter(array, source))
    wanted = scatter(array, target)
    for rank, buffer in moved.items():
        np.testing.assert_array_equal(buffer, wanted[rank])
    print(f"ran the plan: every one of {array.size} elements arrived where it belongs")

    for name, picture in (("source", source), ("target", target), ("plan", plan)):
        (folder / f"{name}.svg").write_text(picture.draw())
    print(f"pictures: {folder}/source.svg, {folder}/target.svg, {folder}/plan.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
