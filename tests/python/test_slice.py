"""Slices with offsets, sizes and strides against every map."""

from __future__ import annotations

from collections import Counter
from itertools import product
from random import Random

import generate
import oracle
import pytest

import partita as pt


def pairs(runs: list[pt.Run]) -> list[tuple[int, int]]:
    """Every (entry of the slice, position in the buffer) of a list of runs."""
    found = []
    for run in runs:
        count = 0
        for at in product(*(range(n) for n, _, _ in run.levels)):
            steps = [(k * a, k * b) for k, (_, a, b) in zip(at, run.levels, strict=True)]
            entry = run.source_start + sum(a for a, _ in steps)
            found.append((entry, run.target_start + sum(b for _, b in steps)))
            count += 1
        assert count == run.n_elements
    return found


def random_slice(rng: Random, extent: int) -> tuple[int, int, int]:
    """Offset, size and stride inside an extent, often backwards."""
    stride = rng.choice([-7, -3, -2, -1, 1, 1, 2, 3, 7, 50])
    if extent == 0 or rng.randrange(10) == 0:
        return rng.randint(0, extent), 0, stride
    offset = rng.randrange(extent)
    room = offset if stride < 0 else extent - 1 - offset
    return offset, rng.randint(1, room // abs(stride) + 1), stride


@pytest.mark.parametrize("seed", range(generate.n_cases(400)))
def test_slices_meet_what_ranks_hold(seed: int) -> None:
    case = generate.case(seed)
    layout = generate.build(case)
    rng = Random(seed)
    slices = [random_slice(rng, extent) for extent in case.shape]
    offsets, sizes, strides = ([each[k] for each in slices] for k in range(3))
    if isinstance(case, oracle.Boxes):
        with pytest.raises(pt.LayoutError) as error:
            layout.meet_slice(case.ranks[0], offsets, sizes, strides)
        assert error.value.reason == "slice-of-boxes"
        return
    for place in oracle.Dense(case).places:
        found = layout.meet_slice(place.rank, offsets, sizes, strides)
        assert len(found) == len(slices)
        for dim, (offset, size, stride) in enumerate(slices):
            entries = {offset + entry * stride: entry for entry in range(size)}
            held = place.buffers[0].held[dim].tolist()
            wanted = [(entries[index], at) for at, index in enumerate(held) if index in entries]
            assert Counter(pairs(found[dim])) == Counter(wanted)


def test_huge_slices_have_few_runs() -> None:
    extent = 2**62
    layout = pt.Layout(extent, "cyclic(64) @ 1000")
    [runs] = layout.meet_slice(7, extent - 1, extent // 3, -3)
    assert len(runs) < 400
    everything = [layout.meet_slice(rank, 0, extent, 1)[0] for rank in (0, 999)]
    assert [sum(run.n_elements for run in runs) for runs in everything] == [
        layout.n_owned(0),
        layout.n_owned(999),
    ]


def test_runs_are_values() -> None:
    layout = pt.Layout(12, "block @ 3")
    [[run]] = layout.meet_slice(1, 11, 4, -3)
    assert (run.source_start, run.target_start, run.n_elements) == (2, 1, 1)
    assert run == layout.meet_slice(1, 11, 4, -3)[0][0]
    assert run != layout.meet_slice(0, 11, 4, -3)[0][0]
    assert repr(run) == "Run(2 -> 1, levels=[])"


@pytest.mark.parametrize(
    ("offset", "size", "stride", "reason"),
    [
        (8, 3, 1, "slice-outside"),
        (2, 4, -1, "slice-outside"),
        (10, 1, 1, "slice-outside"),
        (2**63, 2**63, 2**62, "slice-outside"),
        (2, 2, 0, "slice-stride-zero"),
        ((2, 2), 1, 1, "slice-ndim"),
        (2, (), 1, "slice-ndim"),
        (2, 1, (1, 1, 1), "slice-ndim"),
        (-1, 1, 1, "offset-negative"),
        (1, -1, 1, "size-negative"),
        (1, 1, 0.5, "stride-not-sequence"),
        (1, 1, 2**64, "stride-overflow"),
    ],
    ids=str,
)
def test_wrong_slices_are_refused(offset: int, size: int, stride: int, reason: str) -> None:
    with pytest.raises(pt.LayoutError) as error:
        pt.Layout(10, "block @ 2").meet_slice(0, offset, size, stride)
    assert error.value.reason == reason
