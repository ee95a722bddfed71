"""Notes and data from other processes, changed on their way: refused, or exactly what was meant.

The cases run in a process of their own, so that a crash is a failure that is told.
"""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from partita import LayoutError, TeamError
from partita._partita import LentBytes
from partita._tasks.loans import Gone, borrow
from partita._team.wire import decode, encode

N_CASES = 30_000
SIZES = (1, 4096, 5000, 300_000)
EXTREMES = (0, 1, 7, 4095, 4096, 1 << 19, 1 << 31, 1 << 34, 1 << 42, 1 << 63, (1 << 64) - 1)

WORDS = (b"[", b"]", b"{}", b'"', b"9", b"-", b"null", b"1e9")


def loans() -> list[LentBytes]:
    """Lent bytes, each full of its own number, beside others that are lent no more."""
    made = []
    for number, size in enumerate(SIZES):
        lent(size, 100 + number)
        made.append(lent(size, number + 1))
    return made


def lent(size: int, byte: int) -> LentBytes:
    loan = LentBytes.lend(size)
    assert loan is not None
    np.frombuffer(loan, np.uint8)[:] = byte  # type: ignore[call-overload]
    return loan


def changed(rng: random.Random, note: Sequence[int], others: Sequence[Sequence[int]]) -> list[int]:
    """A note of which something is different: bits, numbers, fields of other notes."""
    new = list(note)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        field = rng.randrange(len(new))
        match rng.randrange(5):
            case 0:
                new[field] ^= 1 << rng.randrange(64)
            case 1:
                new[field] = rng.choice(EXTREMES)
            case 2:
                new[field] = (new[field] + rng.choice((-4096, -1, 1, 4096))) % (1 << 64)
            case 3:
                new[field] = rng.choice(others)[field]
            case _:
                new[field] = rng.getrandbits(64)
    return new


def mutate_notes(seed: int, count: int) -> None:
    """Borrows by changed notes: what comes is nothing, an error, or the bytes that are lent."""
    rng, kept = random.Random(seed), loans()
    notes = [tuple(loan.note) for loan in kept]
    told = {"loan-note": 0, "gone": 0}
    for case in range(count):
        note = changed(rng, rng.choice(notes), notes)
        try:
            found, reason = LentBytes.borrow(note), "gone"
        except TeamError as error:
            found, reason = None, error.reason
        if found is None:
            assert reason in told, (seed, case, note)
            told[reason] += 1
            continue
        # One file may be open under several numbers.
        loans_by_line = [known[4:] for known in notes]
        assert tuple(note[4:]) in loans_by_line, (seed, case, note)
        number = loans_by_line.index(tuple(note[4:]))
        assert bytes(found) == bytes([number + 1]) * SIZES[number], (seed, case, note)  # type: ignore[call-overload]
    assert min(told.values()) > count // 20, told
    for number, as_sent in enumerate(notes):
        found = LentBytes.borrow(as_sent)
        assert found is not None
        assert bytes(found) == bytes([number + 1]) * SIZES[number]  # type: ignore[call-overload]


def samples() -> Iterator[Any]:
    """Values of every kind that is sent."""
    yield {"a": (1, 2.5, None, True), 3: [b"bytes", "text", 1 + 2j], (1, "x"): {}}
    yield np.arange(12, dtype="int16").reshape(3, 4)
    yield [np.float32(2.5), np.array(["ab", "c"]), np.zeros((0, 3)), np.array("2024", "M8[D]")]
    yield {"nested": [[(((1,),),)]], "big": 1 << 80, "bytes": bytes(range(256))}


def mutate_data(seed: int, count: int) -> None:
    """Reads changed data: an error with its reason, or values of the kinds that are sent."""
    rng = random.Random(seed)
    encoded = [encode(value) for value in samples()]
    n_refused = 0
    for case in range(count):
        data = spoilt(rng, rng.choice(encoded))
        try:
            value, reason = decode(data), ""
        except TeamError as error:
            value, reason = None, error.reason
        if reason:
            assert reason == "data-format", (seed, case, data)
            n_refused += 1
            continue
        # What comes through can be sent on, so it is nothing else.
        try:
            encode(value)
        except LayoutError:
            raise AssertionError((seed, case, data)) from None
    assert n_refused > count // 3, n_refused


def spoilt(rng: random.Random, data: bytes) -> bytes:
    """Bytes with flipped bits, cut, lengthened, or with parts exchanged."""
    new = bytearray(data)
    match rng.randrange(6):
        case 0:
            return bytes(new[: rng.randrange(len(new))])
        case 1:
            return bytes(new + rng.randbytes(rng.randint(1, 9)))
        case 2:
            new[:8] = rng.choice(EXTREMES).to_bytes(8, "little")
        case 3:
            at, length = rng.randrange(len(new)), rng.randint(1, 6)
            new[at : at + length] = rng.choice(WORDS)
        case _:
            for _ in range(rng.randint(1, 4)):
                new[rng.randrange(len(new))] ^= 1 << rng.randrange(8)
    return bytes(new)


def run_apart(what: str, seed: int, count: int) -> None:
    program = f"import test_lend; test_lend.{what}({seed}, {count})"
    command = [sys.executable, "-X", "faulthandler", "-c", program]
    here = Path(__file__).parent
    ended = subprocess.run(command, cwd=here, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"{program}\n{ended.stderr[-3000:]}"


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("what", [mutate_notes, mutate_data], ids=lambda what: what.__name__)
def test_what_was_changed_on_its_way(what: Any, seed: int) -> None:
    run_apart(what.__name__, seed, N_CASES // 2)


@pytest.mark.parametrize("field", [4, 6, 7, 8])
def test_a_note_that_contradicts_the_book_is_an_error(field: int) -> None:
    loan = LentBytes.lend(5000)
    assert loan is not None
    note = list(loan.note)
    note[field] = 1 << 34
    with pytest.raises(TeamError, match=str(1 << 34)) as told:
        LentBytes.borrow(note)
    assert told.value.reason == "loan-note"


@pytest.mark.parametrize("note", [(), (1, 2), (-1,) * 9, ("a",) * 9, (1 << 64,) * 9, None, 7])
def test_what_is_no_note_is_an_error(note: Any) -> None:
    with pytest.raises(TeamError) as told:
        LentBytes.borrow(note)
    assert told.value.reason == "loan-note"
    part = borrow(note)
    assert isinstance(pickle.loads(pickle.dumps(part)), Gone)
    with pytest.raises(TeamError) as told:
        _ = part.array
    assert told.value.reason == "loan-note"


def test_more_than_there_is_cannot_be_lent() -> None:
    assert LentBytes.lend((1 << 64) - (1 << 21)) is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0" * 8,
        b"\xff" * 20,
        (2).to_bytes(8, "little") + b"{}",
        (14).to_bytes(8, "little") + b'{"q": [[1, 2]]}',
    ],
)
def test_what_is_no_data_is_an_error(data: bytes) -> None:
    with pytest.raises(TeamError, match="version of partita") as told:
        decode(data)
    assert told.value.reason == "data-format"
