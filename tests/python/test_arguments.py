"""Arguments of a wrong kind are refused by name, never by an error from inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import partita as pt
from partita import distdl
from partita.distdl import Partition

Call = Callable[[Any], object]

X = np.zeros(4)
LIST = [1.0]
LINE = pt.Layout((4,), "block @ 1")

# What is called with a team of one, and the reason for which it is refused.
REFUSED: dict[str, tuple[Call, str]] = {
    "halo of text": (lambda t: pt.halo_exchange(X, t.grid(1), ["a"]), "halo-widths"),
    "halo of None": (lambda t: pt.halo_exchange(X, t.grid(1), None), "halo-widths"),  # type: ignore[arg-type]
    "halo of ragged lists": (
        lambda t: pt.halo_exchange(X, t.grid(1), [[[1], [1, 2]]]),
        "halo-widths",
    ),
    "halo of a dictionary": (lambda t: pt.halo_exchange(X, t.grid(1), [{}]), "halo-widths"),
    "halo on a number": (lambda t: pt.halo_exchange(X, 5, [1]), "workers-type"),
    "halo with sizes of text": (
        lambda t: pt.halo_exchange(X, t.grid(1), [0], sizes="ab"),  # type: ignore[arg-type]
        "sizes-type",
    ),
    "halo with sizes of another grid": (
        lambda t: pt.halo_exchange(X, t.grid(1), [0], sizes=[[2, 2]]),
        "sizes-grid",
    ),
    "halo with a shape of text": (
        lambda t: pt.halo_exchange(X, t.grid(1), [0], shape=["x"]),  # type: ignore[list-item]
        "shape-not-integer",
    ),
    "the adjoint of a list": (
        lambda t: pt.halo_exchange.adjoint([1.0], t.grid(1), [0], out=None),  # type: ignore[arg-type]
        "local-type",
    ),
    "the adjoint of nothing": (
        lambda t: pt.halo_exchange.adjoint(None, t.grid(1), [0]),  # type: ignore[arg-type]
        "local-type",
    ),
    "the adjoint of a list in place": (
        lambda t: pt.halo_exchange.adjoint(LIST, t.grid(1), [0], out=LIST),  # type: ignore[arg-type]
        "local-type",
    ),
    "the adjoint into another shape": (
        lambda t: pt.halo_exchange.adjoint(X, t.grid(1), [0], out=np.zeros(3)),
        "out-array",
    ),
    "a sum of text": (lambda t: Partition(t).allreduce_data("x"), "data-type"),
    "sum along text": (
        lambda t: pt.all_sum_reduce(X, t, axes=["x"]),  # type: ignore[list-item]
        "axis-not-integer",
    ),
    "sum along a number": (lambda t: pt.all_sum_reduce(X, t, axes=0), "axis-not-integer"),  # type: ignore[arg-type]
    "sum along one axis twice": (lambda t: pt.all_sum_reduce(X, t, axes=[0, 0]), "axis-twice"),
    "broadcast to text": (lambda t: pt.broadcast(X, t, "all"), "workers-type"),
    "broadcast from None": (lambda t: pt.broadcast(X, None, t), "workers-type"),
    "broadcast from root text": (lambda t: pt.broadcast(X, t, root="x"), "rank-not-integer"),  # type: ignore[arg-type]
    "Broadcast from None": (lambda t: distdl.Broadcast(None, Partition(t)), "partition-type"),  # type: ignore[arg-type]
    "Broadcast to a team": (lambda t: distdl.Broadcast(Partition(t), t), "partition-type"),
    "HaloExchange on None": (lambda t: distdl.HaloExchange(None, [1]), "partition-type"),  # type: ignore[arg-type]
    "Repartition to None": (lambda t: distdl.Repartition(Partition(t), None), "partition-type"),  # type: ignore[arg-type]
    "a union with None": (
        lambda t: Partition(t).create_partition_union(None),  # type: ignore[arg-type]
        "partition-type",
    ),
    "half a rank": (
        lambda t: Partition(t).create_partition_inclusive([0.5]),  # type: ignore[list-item]
        "rank-not-integer",
    ),
    "a grid of half workers": (
        lambda t: Partition(t).create_cartesian_topology_partition([1.5]),  # type: ignore[list-item]
        "grid-not-integer",
    ),
    "data from root text": (lambda t: t.broadcast_data(1, root="x"), "root-not-integer"),
    "data from root text of a partition": (
        lambda t: Partition(t).broadcast_data(1, root="x"),  # type: ignore[arg-type]
        "root-not-integer",
    ),
    "data inside itself": (lambda t: t.allgather_data(inside_itself()), "data-depth"),
    "a grid of text": (lambda t: t.grid("2"), "grid-not-integer"),
    "a subteam of a number": (lambda t: t.subteam(0), "rank-not-integer"),
    "coordinates of text": (lambda t: t.grid(1).rank_at(["x"]), "coordinates-not-integer"),
    "a plan without a team": (lambda t: pt.plan(LINE, LINE).apply(X, None), "not-a-team"),  # type: ignore[arg-type]
    "a plan started without a team": (lambda t: pt.plan(LINE, LINE).start(X, 3), "not-a-team"),  # type: ignore[arg-type]
    "memory of a type NumPy has not": (lambda t: t.empty((2,), "no such"), "dtype-unknown"),
    "a plan in foreign byte order": (lambda t: pt.plan(LINE, LINE, ">f8"), "byte-order"),
    "a world of a number": (lambda t: pt.world(5), "not-a-communicator"),
    "gather to rank -1": (lambda t: pt.from_local(X, LINE, t).gather(root=-1), "root-unknown"),
    "a list without a copy": (lambda t: pt.asarray([1.0], team=t, copy=False), "copy-needed"),
    "a cyclic part without a copy": (
        lambda t: pt.asarray(X, pt.Layout((4,), "cyclic @ 2"), t, copy=False),
        "copy-needed",
    ),
    "a list of nothing": (lambda t: pt.asarray([None], team=t), "data-type"),
    "rows of two lengths": (lambda t: pt.asarray([[1], [2, 3]], team=t), "data-type"),
    "a number as layout": (lambda t: pt.asarray(X, 5, t), "layout-type"),
    "a number as team": (lambda t: pt.asarray(X, None, 5), "not-a-team"),
    "a team of text for a dictionary": (
        lambda t: pt.from_partitioned({}, team="x"),  # type: ignore[arg-type]
        "not-a-team",
    ),
    "copy of text": (lambda t: pt.asarray(X, team=t, copy="x"), "copy-flag"),  # type: ignore[arg-type]
    "a check with a number as team": (lambda t: pt.check({}, team=5), "not-a-team"),  # type: ignore[arg-type]
    "a check strict as text": (lambda t: pt.check({}, strict="x"), "strict-not-flag"),  # type: ignore[arg-type]
    "a partition by part": (lambda t: pt.asarray(X, team=t).partition(0.5), "position-not-integer"),
    "a partition by text": (
        lambda t: pt.asarray(X, team=t).partition("0"),
        "position-not-integer",
    ),
    "half a partition": (
        lambda t: pt.asarray(X, team=t).partition((0.5,)),
        "position-not-integer",
    ),
    "data whose memory raises": (lambda t: pt.asarray(Raises(), team=t), "data-raised"),
    "a masked array": (lambda t: pt.asarray(masked(), team=t), "data-masked"),
    "a masked local array": (lambda t: pt.from_local(masked(), LINE, t), "data-masked"),
}


class Raises:
    """An array that cannot be read."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise OSError("the file is gone")


def inside_itself() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


def masked() -> Any:
    return np.ma.masked_array(np.arange(4.0), mask=[False, True, False, False])


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused_by_name(name: str) -> None:
    call, reason = REFUSED[name]

    def job(team: pt.Team) -> None:
        with pytest.raises(pt.PartitaError) as refusal:
            call(team)
        assert refusal.value.reason == reason, refusal.value
        # The team is as good as before.
        assert team.allgather_data(1) == [1]

    pt.spmd(job, ranks=1)


class Shares:
    """An array of another library that says whether it copies."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.array.copy() if copy else self.array


class Silent(Shares):
    """An older one that does not."""

    def __array__(self, dtype: Any = None) -> Any:  # type: ignore[override]
        return self.array


@pytest.mark.parametrize("kind", [np.asarray, Shares, Silent])
def test_copy_is_obeyed(kind: Callable[[Any], Any]) -> None:
    memory = np.zeros(4)
    copied = pt.asarray(kind(memory), copy=True)
    copied.local[0] = 1
    assert memory[0] == 0
    assert not copied.copies()[0].shares_memory
    taken = pt.asarray(kind(memory))
    taken.local[0] = 2
    assert memory[0] == 2
    assert taken.copies()[0].shares_memory == (kind is not Silent)
    again = pt.asarray(taken, copy=True)
    again.local[0] = 3
    assert memory[0] == 2


def test_a_scalar_is_a_copy_and_says_so() -> None:
    assert pt.asarray(np.float64(3.0)).copies()[0].why


def test_bits_of_bfloat_are_added_as_numbers() -> None:
    source, target = pt.Layout((2,), "* @ 3 partial 0"), pt.Layout((2,), "* on 0")
    plan = pt.plan(source, target, "bfloat16")
    # 1.5 and -2.0: the upper halves of the bits of float32.
    bits = (np.array([1.5, -2.0], "float32").view("uint32") >> 16).astype("uint16")

    def job(team: pt.Team) -> list[float]:
        found = plan.apply(bits, team)
        if found is None:
            return []
        return (found.view("uint16").astype("uint32") << 16).view("float32").tolist()  # type: ignore[no-any-return]

    assert pt.spmd(job, ranks=3) == [[4.5, -6.0], [], []]


def test_an_array_without_masked_elements_is_taken() -> None:
    plain = np.ma.masked_array(np.arange(4.0))
    assert np.array_equal(pt.asarray(plain).local, np.arange(4.0))
