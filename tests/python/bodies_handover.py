"""Bodies on dictionaries of which one rank brings something else: every rank is told so."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from bodies_refusals import Told, attempt
from engines import Case

import partita as pt

Taken = Callable[[pt.Team], object]


class Raises:
    """Data whose memory cannot be asked for."""

    @property
    def __array_interface__(self) -> Any:
        raise OSError("the file is gone")


def piece(team: pt.Team) -> np.ndarray[Any, Any]:
    return np.full(2, float(team.rank))


def partitioned(team: pt.Team, data: Any = None) -> dict[str, Any]:
    """Two elements per rank, this rank's at hand."""
    mine = piece(team) if data is None else data
    parts = {
        (rank,): {
            "start": (2 * rank,),
            "shape": (2,),
            "data": mine if rank == team.rank else None,
            "location": [rank],
        }
        for rank in range(team.size)
    }
    return {
        "shape": (2 * team.size,),
        "partition_tiling": (team.size,),
        "partitions": parts,
        "locals": [(team.rank,)],
        "get": same,
    }


def same(handles: Any) -> Any:
    return handles


def distarray(team: pt.Team) -> dict[str, Any]:
    dim = {"dist_type": "b", "size": 2 * team.size, "proc_grid_size": team.size}
    dim |= {"proc_grid_rank": team.rank, "start": 2 * team.rank, "stop": 2 * team.rank + 2}
    return {"__version__": "0.10.0", "buffer": piece(team), "dim_data": (dim,)}


def taken(team: pt.Team) -> object:
    return pt.asarray(partitioned(team), team=team)


# What the last rank does while the others hand over a dictionary of `__partitioned__`.
OTHERS: dict[str, Taken] = {
    "the other protocol": lambda team: pt.asarray(distarray(team), team=team),
    "a whole array, then data for all": lambda team: (
        pt.asarray(piece(team), team=team),
        team.allgather_data(1),
    ),
    "a whole array and a layout": lambda team: pt.asarray(
        np.zeros(2 * team.size), pt.Layout(2 * team.size, f"block @ {team.size}"), team
    ),
    "numbers, then a look": lambda team: (pt.asarray([1, 2], team=team) + pt.ones(2)).gather(),
    "an array of partita": lambda team: pt.asarray(
        pt.from_local(piece(team), pt.Layout(2 * team.size, f"block @ {team.size}"), team),
        team=team,
    ),
    "no dictionary": lambda team: pt.from_partitioned(piece(team), team=team),
    "no dictionary of the other protocol": lambda team: pt.from_distarray(None, team=team),
    "nothing": lambda team: pt.asarray(None, team=team),
    "a whole array, then data for one": lambda team: (
        pt.asarray(piece(team)),
        team.broadcast_data(1),
    ),
    "data that raises": lambda team: pt.asarray(partitioned(team, Raises()), team=team),
    "a wrong flag": lambda team: pt.from_partitioned(partitioned(team), team=team, copy="no"),  # type: ignore[arg-type]
    "a check": lambda team: pt.check(partitioned(team), team=team),
    "data for all": lambda team: team.allgather_data(1),
    "another shape": lambda team: pt.asarray(
        {**partitioned(team), "shape": (2 * team.size + 1,)}, team=team
    ),
}


def one_differs(team: pt.Team) -> dict[str, Told]:
    """Every rank's errors; after each the team is as good as before."""
    last = team.size - 1
    told: dict[str, Told] = {}
    for name, other in OTHERS.items():
        told[name] = attempt(partial(other if team.rank == last else taken, team))
        whole = pt.asarray(partitioned(team), team=team).gather()
        np.testing.assert_array_equal(whole, np.repeat(np.arange(float(team.size)), 2))
    return told


def check_one_differs(results: list[dict[str, Told]]) -> None:
    for name in OTHERS:
        for rank, told in enumerate(results):
            error = told[name]
            if len(results) == 1:
                # There is nobody to differ from; some of it is right by itself.
                assert error is None or error[0] == "ProtocolError", error
                continue
            assert error is not None, (name, rank)
            kinds = ("MismatchError", "ProtocolError", "RemoteError")
            assert error[0] in kinds, (name, rank, error)
            # Whoever is to blame is named.
            if rank < len(results) - 1:
                assert f"rank {len(results) - 1}" in error[3] or "ranks[" in error[3], (name, error)


BROUGHT: list[Taken] = [
    taken,
    OTHERS["a whole array and a layout"],
    OTHERS["nothing"],
    OTHERS["the other protocol"],
]


def all_differ(team: pt.Team) -> Told:
    told = attempt(partial(BROUGHT[team.rank % len(BROUGHT)], team))
    np.testing.assert_array_equal(team.allgather_data(team.rank), range(team.size))
    return told


def check_all_differ(results: list[Told]) -> None:
    for told in results[: len(results) if len(results) > 1 else 0]:
        assert told is not None
        # Nobody waited for the others: all were told what the ranks have brought.
        assert told[0] == "ProtocolError", told


# How the whole array of the last rank differs from that of the others.
WHOLE: dict[str, Callable[[int], tuple[np.ndarray[Any, Any], pt.Layout]]] = {
    "shape": lambda n: (np.zeros(2 * n + 1), pt.Layout(2 * n + 1, f"block @ {n}")),
    "dtype": lambda n: (np.zeros(2 * n, "int64"), pt.Layout(2 * n, f"block @ {n}")),
    "layout": lambda n: (np.zeros(2 * n), pt.Layout(2 * n, f"cyclic @ {n}")),
    "layout unstructured": lambda n: (
        np.zeros(2 * n),
        pt.Layout(2 * n, [pt.Unstructured([[2 * k, 2 * k + 1] for k in range(n)])], grid=(n,)),
    ),
}


def whole_arrays_differ(team: pt.Team) -> dict[str, Told]:
    """One rank's whole array is another one: all are told, and the team is as good as before."""
    n = team.size
    right = (np.zeros(2 * n), pt.Layout(2 * n, f"block @ {n}"))
    told = {}
    for name, other in WHOLE.items():
        array, layout = other(n) if team.rank == n - 1 else right
        told[name] = attempt(partial(pt.asarray, array, layout, team))
        assert team.allgather_data(team.rank) == list(range(n))
    return told


def check_whole_arrays_differ(results: list[dict[str, Told]]) -> None:
    for name in WHOLE:
        for told in results:
            error = told[name]
            if len(results) == 1:
                assert error is None
                continue
            assert error is not None, name
            assert error[1] == "ranks-differ", (name, error)
            assert name.split()[0] in error[3], (name, error)


CASES = [
    Case("hand over: whole arrays differ", whole_arrays_differ, (), check_whole_arrays_differ),
    Case("hand over: one rank differs", one_differs, (), check_one_differs),
    Case("hand over: all ranks differ", all_differ, (), check_all_differ),
]
