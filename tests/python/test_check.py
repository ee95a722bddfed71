"""`pt.check`: the corpus, hostile objects, messages, and the command."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

import corpus
import numpy as np
import pytest

import partita as pt

CASES = [(name, case) for name in ("partitioned", "distarray") for case in corpus.cases(name)]
COMMAND = str(Path(sys.executable).parent / "partita")


def reasons(findings: list[pt.Finding]) -> list[str]:
    return sorted({finding.reason for finding in findings})


@pytest.mark.parametrize(
    ("name", "case"), CASES, ids=[f"{name}: {case['name']}" for name, case in CASES]
)
def test_the_corpus(name: str, case: dict[str, Any]) -> None:
    value = corpus.values(case)
    assert reasons(pt.check(value)) == case["reasons"]
    if "strict" in case:
        assert reasons(pt.check(value, strict=True)) == case["strict"]
    for finding in pt.check(value):
        assert finding.message
        assert len(finding.message) < 500


def test_the_corpus_is_large() -> None:
    accepted = [case for _, case in CASES if not case["reasons"]]
    assert (len(CASES) >= 400, len(accepted) >= 100) == (True, True)


def line(**changes: Any) -> dict[str, Any]:
    """A good dictionary of two partitions, with changes."""
    parts = {
        (k,): {"start": (3 * k,), "shape": (3,), "data": object(), "location": [("h", 1)]}
        for k in range(2)
    }
    return {
        "shape": (6,),
        "partition_tiling": (2,),
        "partitions": parts,
        "get": corpus.get,
        **changes,
    }


def block(**changes: Any) -> dict[str, Any]:
    dim: dict[str, Any] = {
        "dist_type": "b",
        "size": 6,
        "proc_grid_size": 2,
        "proc_grid_rank": 0,
        "start": 0,
        "stop": 3,
    }
    return {"__version__": "0.10.0", "buffer": np.zeros(3), "dim_data": ({**dim, **changes},)}


class Raises:
    @property
    def __partitioned__(self) -> Any:
        raise ZeroDivisionError("a property")


class RaisesAttribute:
    @property
    def __partitioned__(self) -> Any:
        raise AttributeError("an attribute inside")


class Method:
    def __partitioned__(self) -> dict[str, Any]:
        return line()


class Interface:
    def __partitioned_interface__(self) -> dict[str, Any]:
        return line()


class Attribute:
    def __init__(self) -> None:
        self.__partitioned__ = line()


class Dap:
    def __distarray__(self) -> dict[str, Any]:
        return block()


@pytest.mark.parametrize("kind", [Method, Interface, Attribute, Dap])
def test_properties_attributes_and_methods(kind: Callable[[], object]) -> None:
    assert pt.check(kind()) == []


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (Raises(), "protocol-raised"),
        (RaisesAttribute(), "protocol-raised"),
        (object(), "not-a-dict"),
        (np.zeros(3), "not-a-dict"),
        (None, "not-a-dict"),
        (Method, "protocol-raised"),
    ],
    ids=str,
)
def test_objects_without_a_dictionary(value: object, reason: str) -> None:
    assert reasons(pt.check(value)) == [reason]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (line(shape=(7,)), "gap: indices [6, 7) of dimension 0 are in no partition"),
        (line(shape=(5,)), "reach index 6 of dimension 0, its extent is 5"),
        (line(partition_tiling=(3,)), "[(2,)]"),
        (line(partition_tiling=(2, 1)), "(2, 1)"),
        (line(shape="6"), "'6'".replace("'", '"')),
        (line(get=3), "get 3 cannot be called"),
        (line(shape=(float("nan"),)), "compute_chunk_sizes()"),
        (line(partitions={0: {}}), "must be a tuple of length 1"),
        (block(stop=9), "stop 9 is greater than size 6"),
        (block(size=3, stop=6, start=3), "looks like the local length"),
        (block(padding=(1, 2, 3)), "(1, 2, 3)"),
        ({**block(), "__version__": "1.0.0"}, "the draft before 0.9"),
        ({**block(), "dim_data": {"dist_type": "b"}}, "comma"),
        (block(size=2**200), str(2**200)[:40]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_messages_name_the_value_and_the_cure(value: Any, words: str) -> None:
    assert any(words in finding.message for finding in pt.check(value)), pt.check(value)


def test_paths_lead_to_the_place() -> None:
    bad = line()
    bad["partitions"][(1,)]["location"] = [("h", "pid")]
    bad["partitions"][(0,)]["start"] = (0.5,)
    assert [one.path for one in pt.check(bad)] == [
        "partitions[(0,)].start[0]",
        "partitions[(1,)].location[0]",
    ]
    assert [one.path for one in pt.check(block(padding=(0, -1)))] == ["dim_data[0].padding[1]"]
    assert [one.path for one in pt.check([line(), line(shape=(7,))])] == ["ranks[1].partitions"]


class Numbers:
    """An integer that is none of Python's."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __index__(self) -> int:
        return self._number


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint16, Numbers, int])
def test_integers_of_others(kind: Callable[[int], Any]) -> None:
    good = line(shape=(kind(6),), partition_tiling=[kind(2)])
    good["partitions"] = {
        (kind(k),): {
            "start": (kind(3 * k),),
            "shape": (kind(3),),
            "data": object(),
            "location": [("h", kind(7))],
        }
        for k in range(2)
    }
    if kind is Numbers:
        good["partitions"] = line()["partitions"]
    assert pt.check(good) == []
    assert pt.check(block(size=kind(6), start=kind(0), stop=kind(3))) == []


class Liar(dict[str, Any]):
    """A dictionary whose own methods do harm."""

    def __getitem__(self, key: str) -> Any:
        raise KeyError("harm")

    def get(self, key: str, default: Any = None) -> Any:
        raise RuntimeError("harm")

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("harm")


class Bomb:
    """Everything that is asked of it raises."""

    def __getattr__(self, name: str) -> Any:
        raise ZeroDivisionError(name)

    def __index__(self) -> int:
        raise ZeroDivisionError("index")

    def __repr__(self) -> str:
        raise ZeroDivisionError("repr")

    def __eq__(self, other: object) -> bool:
        raise ZeroDivisionError("eq")

    __hash__ = object.__hash__


def test_hostile_objects_do_no_harm() -> None:
    assert pt.check(Liar(line())) == []
    assert reasons(pt.check(line(shape=(Bomb(),)))) == ["shape-type"]
    assert reasons(pt.check(line(shape=Bomb()))) == ["shape-type"]
    assert reasons(pt.check(block(start=Bomb()))) == ["start-type"]
    assert reasons(pt.check(block(dist_type="u", indices=Bomb()))) == ["indices-type"]
    assert reasons(pt.check({**block(), "buffer": Bomb()})) == ["buffer-type"]
    assert "partition-type" in reasons(pt.check(line(partitions={(0,): Bomb(), (1,): Bomb()})))
    assert reasons(pt.check(Bomb())) == ["protocol-raised"]
    assert reasons(pt.check([Bomb(), line()])) == ["protocol-raised"]


def test_get_is_never_called() -> None:
    def get(handles: Any) -> Any:
        raise AssertionError("called")

    assert pt.check(line(get=get)) == []
    with pytest.raises(pt.ProtocolError, match="gap"):
        pt.from_partitioned(line(get=get, shape=(9,)))


class Store:
    def get(self, handles: Any) -> Any:
        raise AssertionError("called")


class Locked(Store):
    """Its methods have names, and yet no pickle."""

    def __init__(self) -> None:
        self.lock = Lock()

    def __call__(self, handles: Any) -> Any:
        raise AssertionError("called")


def test_strict_checks_want_a_get_that_can_be_pickled() -> None:
    assert pt.check(line(), strict=True) == []
    found = pt.check(line(get=lambda handles: handles), strict=True)
    assert [one.reason for one in found] == ["get-not-picklable"]
    assert "<lambda>" in found[0].message
    assert pt.check(line(get=lambda handles: handles)) == []
    assert reasons(pt.check(line(get=Locked().get), strict=True)) == ["get-not-picklable"]
    assert reasons(pt.check(line(get=Locked()), strict=True)) == ["get-not-picklable"]
    assert pt.check(line(get=partial(corpus.get)), strict=True) == []
    assert pt.check(line(get=Store().get), strict=True) == []

    def job(team: pt.Team) -> list[str]:
        bad = line(get=lambda handles: handles)
        return [one.reason for one in pt.check(bad, strict=True, team=team)]

    assert pt.spmd(job, ranks=2) == [["get-not-picklable"] * 2] * 2


def test_a_dictionary_that_changes_while_it_is_read() -> None:
    bad = line()

    class Changes:
        def __index__(self) -> int:
            bad["partitions"].clear()
            bad.clear()
            return 6

    bad["shape"] = (Changes(),)
    assert isinstance(pt.check(bad), list)


def test_values_that_hold_themselves() -> None:
    endless: list[Any] = []
    endless += [endless, endless, endless]
    assert reasons(pt.check(line(shape=endless))) == ["shape-type"]
    assert reasons(pt.check(line(locals=endless))) == ["position-type"]
    assert pt.check(endless)
    wide: list[Any] = [0] * 1000
    for _ in range(20):
        wide = [wide] * 1000
    assert "too-many-dims" in reasons(pt.check(line(shape=wide)))
    found = pt.check(block(padding=wide))
    assert reasons(found) == ["too-many-dims"]


def test_teams_check_together() -> None:
    def body(team: pt.Team) -> list[str]:
        good = block(proc_grid_rank=team.rank, start=3 * team.rank, stop=3 * team.rank + 3)
        assert pt.check(good, team=team) == []
        late = block(proc_grid_rank=team.rank, start=4 * team.rank, stop=3 + 3 * team.rank)
        late["buffer"] = np.zeros(3 - team.rank)
        found = reasons(pt.check(late, team=team))
        assert found == ["blocks-gap"]
        other = line(shape=(6,), locals=[(team.rank,)])
        assert pt.check(other, team=team) == []
        mixed = block() if team.rank else line()
        assert reasons(pt.check(mixed, team=team)) == ["ranks-differ"]
        return reasons(pt.check({} if team.rank else line(), team=team))

    assert pt.spmd(body, ranks=2) == [["protocol-unknown"], ["protocol-unknown"]]


def command(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, "check", *args], capture_output=True, text=True, timeout=60, check=False
    )


GOOD_FILE = {
    "shape": [6],
    "partition_tiling": [2],
    "partitions": {
        "(0,)": {"start": [0], "shape": [3], "data": None, "location": [["10.0.0.1", 7]]},
        "1": {"start": [3], "shape": [3], "data": "ref", "location": [0]},
    },
}


def test_the_command_on_files(tmp_path: Path) -> None:
    file = tmp_path / "dictionary.json"
    file.write_text(json.dumps(GOOD_FILE))
    done = command(str(file))
    assert (done.returncode, done.stderr) == (0, "")
    assert "__partitioned__" in done.stdout
    # The words of a file have no tuples; a rank as location is a dialect.
    strict = command(str(file), "--strict").stdout
    assert "is a list" not in strict
    assert "location 0 is a rank" in strict
    piped = subprocess.run(
        [COMMAND, "check", "-"],
        input=json.dumps(GOOD_FILE),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "no problem" in piped.stdout
    file.write_text(json.dumps({**GOOD_FILE, "shape": [7]}))
    done = command(str(file))
    assert done.returncode == 1
    assert "gap: indices [6, 7)" in done.stdout
    assert "[partitions-gap]" in done.stdout
    dims: list[dict[str, Any]] = [
        {"dist_type": "b", "size": 4, "proc_grid_size": 2, "proc_grid_rank": k} for k in (0, 1)
    ]
    ranks: list[dict[str, Any]] = [
        {
            "__version__": "0.10.0",
            "buffer": [[0, 0, 0]] * 2,
            "dim_data": [{**dim, "start": 2 * k, "stop": 2 * k + 2}, {}],
        }
        for k, dim in enumerate(dims)
    ]
    file.write_text(json.dumps(ranks))
    assert command(str(file)).returncode == 0
    ranks[1]["dim_data"][0]["start"] = 1
    file.write_text(json.dumps(ranks))
    assert command(str(file)).returncode == 1
    assert command(str(file), "--strict").returncode == 1


@pytest.mark.parametrize("text", ["", "{", "[1,", "{'a': 1}", "[" * 1000, "\x00"])
def test_the_command_on_what_is_no_json(tmp_path: Path, text: str) -> None:
    file = tmp_path / "dictionary.json"
    file.write_text(text)
    done = command(str(file))
    assert done.returncode == 1
    assert "line 1" in done.stdout
    assert "Traceback" not in done.stderr


def test_the_command_on_objects_and_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "producer.py").write_text(
        "import numpy as np\n"
        "class Array:\n"
        "    def __distarray__(self):\n"
        "        return {'__version__': '0.10.0', 'buffer': np.zeros(3), 'dim_data': ({},)}\n"
        "good = Array()\n"
        "bad = {'shape': (3,)}\n"
        "def make():\n"
        "    return bad\n"
    )

    def run(target: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [COMMAND, "check", target],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    assert run("producer:good").returncode == 0
    done = run("producer:bad")
    assert (done.returncode, "field-missing" in done.stdout) == (1, True)
    for wrong in ("producer:absent", "absent:bad", "nothing.json", "producer"):
        done = run(wrong)
        assert done.returncode == 2, (wrong, done)
        assert done.stderr.startswith("error")
        assert "Traceback" not in done.stderr
    assert command().returncode == 2
