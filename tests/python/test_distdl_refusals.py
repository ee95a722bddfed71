"""What the DistDL interface refuses: by name, with the cure, and on every rank alike."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import partita as pt
from partita import distdl
from partita.distdl import Partition, halo_widths, interpolation_widths, send_widths, split

# The types of these calls are wrong on purpose.
widths: Any = halo_widths
interpolated: Any = interpolation_widths
sent: Any = send_widths
divided: Any = split
Window: Any = distdl.Window

NUMBERS: dict[str, tuple[Callable[[], object], str]] = {
    "half an extent": (lambda: widths(10.5, 2, 3), "extent-not-integer"),
    "a negative extent": (lambda: widths(-1, 2, 3), "extent-negative"),
    "no kernels": (lambda: widths(10, 2, []), "stack-empty"),
    "half a kernel": (lambda: widths(10, 2, 2.5), "window-kernel"),
    "a kernel of text": (lambda: Window("a"), "window-kernel"),
    "a kernel of True": (lambda: Window(True), "window-kernel"),
    "a negative size": (lambda: widths(10, 2, 3, sizes=[-3, 13]), "sizes-negative"),
    "sizes of None": (lambda: widths(10, 1, 3, sizes=[None]), "sizes-not-integer"),
    "too few sizes": (lambda: widths(10, 2, 3, sizes=[10]), "sizes-sum"),
    "a division of -1": (lambda: divided(-1, 2), "extent-negative"),
    "a division over True": (lambda: divided(4, True), "workers-not-integer"),
    "a division over none": (lambda: divided(4, 0), "workers-zero"),
    "a scale of nan": (lambda: interpolated(10, 20, 2, scale=math.nan), "scale-not-number"),
    "a scale of text": (lambda: interpolated(10, 20, 2, scale="a"), "scale-not-number"),
    "a scale of 0": (lambda: interpolated(10, 20, 2, scale=0), "scale-not-positive"),
    "no outputs": (lambda: interpolated(10, 0, 2), "outputs-zero"),
    "a single width": (lambda: sent([(1,)]), "halo-widths"),
    "widths of a number": (lambda: sent(1), "halo-widths"),
    "a negative width": (lambda: sent([(0, -1)]), "halo-negative"),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_refused_by_name(name: str) -> None:
    call, reason = NUMBERS[name]
    with pytest.raises(pt.LayoutError) as refusal:
        call()
    assert refusal.value.reason == reason, refusal.value


PARTITIONS: dict[str, tuple[Callable[[Any], object], str]] = {
    "a flag of text": (lambda P: distdl.Broadcast(P, P, transpose_src="no"), "transpose-not-flag"),  # type: ignore[arg-type]
    "teams with a flag of text": (
        lambda P: P.create_broadcast_partition_to(P, transpose_dest="no"),
        "transpose-not-flag",
    ),
    "axes of text": (
        lambda P: P.create_cartesian_subtopology_partition("ab"),
        "remain_shape-not-flag",
    ),
    "axes by number": (
        lambda P: P.create_cartesian_subtopology_partition([0, 2]),
        "remain_shape-not-flag",
    ),
    "a grid of True": (
        lambda P: P.create_cartesian_topology_partition([True, 4]),
        "grid-not-integer",
    ),
    "a kernel without outputs": (
        lambda P: distdl.WindowExchange(P, [[distdl.Window(7)], []])(np.zeros((1, 1))),
        "window-outputs",
    ),
    "a stack that ends without outputs": (
        lambda P: distdl.WindowExchange(P, [[distdl.Window(3), distdl.Window(3)], []])(
            np.zeros((2, 1))
        ),
        "window-outputs",
    ),
    "windows of None": (lambda P: distdl.WindowExchange(P, None), "window-type"),  # type: ignore[arg-type]
    "windows of numbers": (lambda P: distdl.WindowExchange(P, [[3], []]), "window-type"),  # type: ignore[list-item]
    "ragged data": (lambda P: P.allgather_data([[1], [1, 2]]), "data-type"),
    "a batch flag of text": (
        lambda P: distdl.Broadcast(P, P, preserve_batch="x"),  # type: ignore[arg-type]
        "preserve_batch-not-flag",
    ),
    "a repartition with a flag of text": (
        lambda P: distdl.Repartition(P, P, "x"),  # type: ignore[arg-type]
        "preserve_batch-not-flag",
    ),
    "a halo wider than the array": (
        lambda P: distdl.HaloExchange(P, [100, 0])(np.zeros((5, 1))),
        "halo-too-wide",
    ),
}


@pytest.mark.parametrize("name", PARTITIONS)
def test_partitions_refuse_on_every_rank(name: str) -> None:
    call, reason = PARTITIONS[name]

    def job(team: pt.Team) -> str:
        P = Partition(team).create_cartesian_topology_partition((2, 2))
        with pytest.raises(pt.LayoutError) as refusal:
            call(P)
        assert team.allgather_data(1) == [1] * 4
        return refusal.value.reason

    assert pt.spmd(job, ranks=4) == [reason] * 4


DIFFERENT: dict[str, tuple[Callable[[Any], object], str, str]] = {
    "roots": (lambda P: P.broadcast_data(np.ones(1), root=P.rank % 2), "root 0", "root 1"),
    "reductions": (
        lambda P: P.allreduce_data(np.ones(1), ["sum", "max"][P.rank % 2]),
        "reduction sum",
        "reduction max",
    ),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_ranks_that_disagree_are_told_so(name: str) -> None:
    call, one, other = DIFFERENT[name]

    def job(team: pt.Team) -> None:
        with pytest.raises(pt.MismatchError) as refusal:
            call(Partition(team))
        assert one in str(refusal.value)
        assert other in str(refusal.value)

    pt.spmd(job, ranks=3)


def test_an_unknown_reduction_on_one_rank_reaches_the_others() -> None:
    def job(team: pt.Team) -> None:
        with pytest.raises(pt.PartitaError, match="average"):
            Partition(team).allreduce_data(np.ones(1), "average" if team.rank == 1 else "sum")

    pt.spmd(job, ranks=3)


def test_broadcast_rules_say_what_to_change() -> None:
    def job(team: pt.Team) -> list[str]:
        P = Partition(team)
        square = P.create_cartesian_topology_partition((2, 2))
        wide = P.create_cartesian_topology_partition((1, 4))
        found = []
        for few, many in ((square, wide), (square, P)):
            with pytest.raises(distdl.BroadcastRuleError) as refusal:
                distdl.Broadcast(few, many)
            found.append(str(refusal.value))
        return found

    lengths, dimensions = pt.spmd(job, ranks=4)[0]
    assert lengths.endswith("give the first 1")
    assert "has 2 dimensions, the one with many has 1" in dimensions


def test_a_worker_outside_a_primitive_needs_an_array_too() -> None:
    def job(team: pt.Team) -> None:
        first = Partition(team).create_partition_inclusive([0])
        primitive: Any = distdl.AllSumReduce(first, [0])
        for call in (primitive, primitive.adjoint):
            if team.rank == 1:
                with pytest.raises(pt.LayoutError) as refusal:
                    call(None)
                assert refusal.value.reason == "local-type"

    pt.spmd(job, ranks=2)


def test_both_names_of_the_partition_of_a_sum() -> None:
    def job(team: pt.Team) -> None:
        P = Partition(team).create_cartesian_topology_partition((2, 2))
        assert P.create_allreduce_partition([1]) == P.create_allreduction_partition([1])

    pt.spmd(job, ranks=4)


def test_copies_of_primitives_act_with_the_same_team() -> None:
    def job(team: pt.Team) -> None:
        assert copy.copy(team) is team
        P = Partition(team)
        for primitive in (distdl.AllSumReduce(P, [0]), distdl.HaloExchange(P, [0])):
            x = np.ones(3)
            wanted = primitive(x)
            other = copy.deepcopy(primitive)
            assert np.array_equal(other(x), wanted)
            assert np.array_equal(other.adjoint(x), primitive.adjoint(x))
        with pytest.raises(pt.TeamError) as refusal:
            pickle.dumps(team)
        assert refusal.value.reason == "team-pickle"

    pt.spmd(job, ranks=3)
