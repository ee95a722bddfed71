"""How long it takes to judge, take over and hand on dictionaries of many partitions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from timing import Times, in_turns

import partita as pt

N_ROUNDS = 7
BAR_SECONDS = 0.5
BAR_GROWTH = 2.5


@dataclass(frozen=True)
class Handed:
    """Times of one number of partitions."""

    n_partitions: int
    check: Times
    take: Times
    give: Times


class Handle:
    """Data that lies elsewhere."""


DATA = np.zeros((2, 3))


def _get(handles: list[Any]) -> list[Any]:
    return [DATA] * len(handles)


def _table(n_rows: int, n_columns: int) -> dict[str, Any]:
    parts = {
        (i, j): {
            "start": (2 * i, 3 * j),
            "shape": (2, 3),
            "data": Handle(),
            "location": [(f"10.0.0.{i % 8}", 1000 + j)],
        }
        for i in range(n_rows)
        for j in range(n_columns)
    }
    shape = (2 * n_rows, 3 * n_columns)
    tiling = (n_rows, n_columns)
    return {"shape": shape, "partition_tiling": tiling, "partitions": parts, "get": _get}


def measure() -> list[Handed]:
    """A grid of 400x250 partitions, and one of twice as many; handles, all fetched."""
    results = []
    for n_columns in (250, 500):
        table = _table(400, n_columns)
        array = pt.from_partitioned(table)

        def check(table: dict[str, Any] = table) -> None:
            assert pt.check(table) == []

        def take(table: dict[str, Any] = table) -> None:
            pt.from_partitioned(table)

        def give(array: pt.Array = array) -> None:
            _ = array.__partitioned__

        times = in_turns({"check": check, "take": take, "give": give}, N_ROUNDS)
        results.append(Handed(400 * n_columns, times["check"], times["take"], times["give"]))
    return results
