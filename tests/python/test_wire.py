"""Data between ranks: what cannot be sent is refused by name, never by an error of another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from bodies_data import nested

from partita import LayoutError
from partita._team import wire
from partita._team.wire import decode, encode


class Mute:
    """An object that says it is a number."""

    __class__ = int  # type: ignore[assignment]


class Apart(str):
    """Text that equals nothing but itself."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__


class OddArray(np.ndarray[Any, Any]):
    """An array whose own code raises."""

    @property
    def mask(self) -> Any:
        raise OSError("no mask today \udcff")


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "too many levels": (lambda: nested(201), "data-depth"),
    "far too many levels": (lambda: nested(10**4), "data-depth"),
    "a set": (lambda: {1}, "data-type"),
    "a liar": (Mute, "data-type"),
    "an array that raises": (lambda: np.zeros(3).view(OddArray), "data-type"),
    "text of any length": (lambda: np.array(["a"], np.dtypes.StringDType()), "data-type"),
    "a set as key": (lambda: {frozenset(): 1}, "data-type"),
    "keys that become equal": (lambda: {Apart("a"): 1, "a": 2}, "data-key"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_sent_is_refused_by_name(name: str) -> None:
    make, reason = REFUSED[name]
    with pytest.raises(LayoutError) as caught:
        decode(encode(make()))
    assert caught.value.reason == reason


def test_as_many_levels_arrive_as_are_sent() -> None:
    assert decode(encode(nested(200))) == nested(200)


@pytest.mark.parametrize("value", [7, True, 1, 1.0, -0.0, "a", b"a", None, (1, (2.5, "b")), 2j])
def test_what_nobody_can_change_is_read_once(value: Any) -> None:
    data = encode(value)
    found = decode(data)
    assert repr(found) == repr(value)
    assert decode(bytes(bytearray(data))) is found


@pytest.mark.parametrize("value", [[1], {"a": 1}, (1, [2]), np.arange(2), ({},)])
def test_what_can_be_changed_is_everybodys_own(value: Any) -> None:
    data = encode(value)
    assert decode(data) is not decode(data)


def test_what_is_kept_is_bounded() -> None:
    for number in range(10_000):
        assert decode(encode(number)) == number
    assert len(wire._kept) <= wire._MOST_KEPT
    long = "x" * 1000
    assert decode(encode(long)) == long
    assert encode(long) not in wire._kept


def test_data_that_arrives_deep_in_a_program_is_refused_by_name() -> None:
    data = encode(nested(200))

    def deeper() -> Any:
        try:
            return deeper()
        except RecursionError:
            return decode(data)

    with pytest.raises(LayoutError) as caught:
        deeper()
    assert caught.value.reason == "data-depth"
