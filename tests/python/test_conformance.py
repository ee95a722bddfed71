"""The runner of `make conformance`, on a suite of four tests: what it must notice, it notices."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parents[1] / "conformance" / "run.py"

OPTIONS = """
from hypothesis import settings


def pytest_addoption(parser):
    parser.addoption("--max-examples", type=int)
    parser.addoption("--disable-deadline", action="store_true")
    parser.addoption("--derandomize", action="store_true")


def pytest_configure(config):
    settings.register_profile("suite", max_examples=config.getoption("--max-examples"))
    settings.load_profile("suite")
"""

# Inside a function that ranks call, the world is theirs; here it may be that of a single process.
SUITE = """
import importlib
import os

import partita
from hypothesis import given, strategies as st

xp = importlib.import_module(os.environ["ARRAY_API_TESTS_MODULE"])


def odd(x):
    if partita.world().rank == 1:
        raise ValueError("only here")
    return x + 1


def other(x):
    return float(partita.world().rank)


if xp is not partita:
    odd, other = (getattr(xp, "_everywhere")(one) for one in (odd, other))


@given(st.lists(st.integers(0, 9), min_size=2))
def test_sums(numbers):
    x = xp.asarray(numbers)
    assert int(xp.sum(x)) == sum(numbers)
    assert [int(x[at]) for at in range(len(numbers))] == numbers


@given(st.integers(1, 9))
def test_error_on_one_rank(n):
    assert float(xp.sum(odd(xp.ones(n)))) == 2 * n


@given(st.integers(1, 9))
def test_result_on_one_rank(n):
    assert other(xp.ones(n)) == 0.0


def test_split():
    x = xp.asarray([1, 2, 3, 4, 5])
    assert x.shape == (5,)
    assert xp.asarray(x, copy=False).layout.notation == "cyclic @ 2"
"""


@pytest.mark.parametrize("engine", ["mpi", "threads"])
def test_what_one_rank_does_otherwise_fails_and_the_others_go_on(
    engine: str, tmp_path: Path
) -> None:
    (tmp_path / "conftest.py").write_text(OPTIONS)
    tests = tmp_path / "array_api_tests"
    tests.mkdir()
    # Functions of the suite stand for partita's own, which alone are called on every rank.
    (tests / "test_small.py").write_text(f'__name__ = "partita.small"\n{SUITE}')
    command = [sys.executable, str(RUN), str(tmp_path), "-n", "2", "--engine", engine]
    ran = subprocess.run(
        [*command, "--layout", "cyclic", "-rA"], capture_output=True, text=True, timeout=100
    )
    outcomes = sorted(
        (line.partition("::")[2].partition(" ")[0], line.partition(" ")[0])
        for line in ran.stdout.splitlines()
        if line.startswith(("PASSED", "FAILED"))
    )
    assert outcomes == [
        ("test_error_on_one_rank", "FAILED"),
        ("test_result_on_one_rank", "FAILED"),
        ("test_split", "PASSED"),
        ("test_sums", "PASSED"),
    ], ran.stdout + ran.stderr
    assert ran.returncode == 1
