"""Bodies that send data of every kind: what arrives is what was sent, on every rank."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
from engines import Case

import partita as pt


class Number(enum.IntEnum):
    SEVEN = 7


class Shy(dict[Any, Any]):
    """A dictionary that does not show what it has."""

    items = __iter__ = None  # type: ignore[assignment]


def nested(n_levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(n_levels):
        value = [value]
    return value


# name: (what is sent, what arrives)
SENT: dict[str, tuple[Any, Any]] = {
    name: (value, value)
    for name, value in {
        "long integer": 10**5000,
        "long negative integer": -(2**64),
        "half a character": "x\udcff",
        "two halves": "\ud83d\ude00",
        "a whole character": "\U0001f600",
        "text that ends in a zero": np.str_("a\0"),
        "empty text of NumPy": np.str_(""),
        "infinity": -np.inf,
        "a time": np.datetime64("2020-01-01T00:00:00", "ns"),
        "keys": {1: "a", None: 2, (1, (2.5, "x")): 3, b"k": 4, 2j: 5, 10**5000: 6, np.int8(9): 7},
        "many levels": nested(150),
    }.items()
} | {
    "a named number": (Number.SEVEN, 7),
    "a shy dictionary": (Shy(a=1), {"a": 1}),
}


def send(team: pt.Team, name: str) -> None:
    value, wanted = SENT[name]
    found = team.allgather_data([value, team.rank])
    assert all(one == [wanted, rank] for rank, one in enumerate(found)), "other data"
    assert {type(one[0]) for one in found} == {type(wanted)}
    assert team.broadcast_data(value, root=team.size - 1) == wanted


def send_empty_text(team: pt.Team) -> None:
    """Elements of no bytes have no memory to read them from."""
    for found in team.allgather_data(np.ndarray((3,), "S0")):
        assert found.tolist() == [b""] * 3


def send_nan(team: pt.Team) -> None:
    """What equals nothing still arrives, in every place."""
    for found in team.allgather_data([np.nan, complex(np.nan, 1), {np.nan: 1}]):
        assert found[0] != found[0]
        assert (found[1].real != found[1].real, found[1].imag) == (True, 1)
        assert list(found[2].values()) == [1]


CASES = [
    *(Case(f"send {name}", send, (name,)) for name in SENT),
    Case("send empty text in an array", send_empty_text),
    Case("send NaN", send_nan),
]
