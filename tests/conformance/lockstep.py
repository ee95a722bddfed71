"""A pytest plugin: one test-suite run by all ranks, which stay together whatever happens.

Hypothesis may draw other examples on another rank, and a rank whose example fails would go another
way than the others. So examples are drawn from fixed seeds and never shrunk, the ranks tell each
other how each example and each test ended, and one that failed anywhere failed everywhere.
"""

from __future__ import annotations

import functools
import os
import random
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import HypothesisException, StopTest, UnsatisfiedAssumption

import partita

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

# What Hypothesis raises to end an example that neither passed nor failed.
_CONTROL = (HypothesisException, StopTest, UnsatisfiedAssumption)
_SEED = 0
# How often a rank that has failed waits for others that go on.
_MOST_MEETINGS = 20
_LAYOUT = "PARTITA_DEFAULT_LAYOUT"
# Asks one rank for the memory of a whole array. Of a split one no rank has it: a BufferError.
_NEEDS_WHOLE = "test_dunder_dlpack"


def _split_asarray(asarray: Callable[..., Any]) -> Callable[..., Any]:
    """`asarray` that puts lists and numbers, which every rank has whole, into a layout."""

    @functools.wraps(asarray)
    def split(obj: Any, *args: Any, **options: Any) -> Any:
        made = asarray(obj, *args, **options)
        is_new = not isinstance(obj, partita.Array) and options.get("copy") is not False
        if made.team.size == 1 or made.ndim == 0 or not is_new:
            return made
        return made.redistribute(os.environ[_LAYOUT])

    return split


def _agree(what: str, outcome: str, told: str) -> list[tuple[str, str, str]]:
    """What all ranks say of a test; the run ends where they are not at the same one."""
    said: list[tuple[str, str, str]] = []
    for _ in range(_MOST_MEETINGS):
        try:
            said = partita.world().allgather_data((what, outcome, told))
            break
        except partita.MismatchError:
            # Another rank is still in the test: it gets this error there, and comes here next.
            continue
        except Exception as error:
            pytest.exit(f"the ranks went apart in {what}: {error}", returncode=3)
    if len({one for one, _, _ in said}) != 1:
        pytest.exit(f"the ranks are not at the same test, {what}: {said}", returncode=3)
    return said


def _together(what: str, function: Callable[[], Any]) -> Any:
    """Call a function on every rank; it fails on all of them where it fails on one."""
    outcome, told, raised, found = "passed", "", None, None
    try:
        found = function()
    except (pytest.exit.Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        is_control = isinstance(error, (*_CONTROL, pytest.skip.Exception))
        outcome = type(error).__name__ if is_control else "failed"
        told, raised = f"{type(error).__name__}: {error}"[:500], error
    said = _agree(what, outcome, told)
    outcomes = [one for _, one, _ in said]
    if "failed" in outcomes and outcome != "failed":
        rank = outcomes.index("failed")
        raise AssertionError(f"on rank {rank} only: {said[rank][2]}") from raised
    if len(set(outcomes)) > 1 and "failed" not in outcomes:
        pytest.exit(f"the ranks end an example of {what} differently: {said}", returncode=3)
    if raised is not None:
        raise raised
    return found


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Draw the same examples on all ranks."""
    settings.register_profile(
        "lockstep",
        max_examples=settings.default.max_examples,  # type: ignore[attr-defined]
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
        report_multiple_bugs=False,
    )
    settings.load_profile("lockstep")
    if _LAYOUT in os.environ:
        partita.asarray = _split_asarray(partita.asarray)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let the ranks meet after each example."""
    handle = getattr(getattr(item, "obj", None), "hypothesis", None)
    if handle is None or hasattr(handle.inner_test, "is_together"):
        return
    inner, name = handle.inner_test, item.nodeid.partition("[")[0]

    @functools.wraps(inner)
    def example(*args: Any, **given: Any) -> Any:
        return _together(name, functools.partial(inner, *args, **given))

    example.is_together = True  # type: ignore[attr-defined]
    handle.inner_test = example


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Let the ranks meet after each test."""
    # One test draws from the generator that all share.
    random.seed(_SEED)
    raised: BaseException | None = None
    notation = os.environ.get(_LAYOUT)
    if notation and item.name == _NEEDS_WHOLE:
        os.environ[_LAYOUT] = "*"
    try:
        yield
    except BaseException as error:
        raised = error
    finally:
        os.environ.update({_LAYOUT: notation} if notation else {})

    def ended() -> None:
        if raised is not None:
            raise raised

    _together(item.nodeid, ended)


def pytest_report_header() -> str:
    """Say what is run, for the record."""
    ranks, engine = (os.environ[f"PARTITA_CONFORMANCE_{word}"] for word in ("RANKS", "ENGINE"))
    return (
        f"partita {partita.__version__} on {ranks} ranks ({engine}), new arrays "
        f"{os.environ.get(_LAYOUT, 'as partita puts them')}; hypothesis {hypothesis.__version__}"
    )
