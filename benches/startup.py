"""What meets a user first: the import, and what a notebook prints and draws."""

from collections.abc import Callable
from dataclasses import dataclass

from command import ROOT, SHAPE, SOURCE, TARGET, started
from timing import Times, in_turns

import partita as pt

N_STARTS = 21


@dataclass(frozen=True)
class Look:
    """What is shown of what, and how long that takes."""

    what: str
    small: Times
    large: Times


def imports() -> dict[str, Times]:
    """Times of interpreters that import nothing, partita, or NumPy, in turns."""
    python = str(ROOT / ".venv/bin/python")
    words = {"nothing": "pass", "partita": "import partita", "numpy": "import numpy"}
    seconds: dict[str, list[float]] = {name: [] for name in words}
    for _ in range(N_STARTS):
        for name, statement in words.items():
            times, _peak = started(1, [python, "-c", statement])
            seconds[name] += times.seconds
    return {name: Times(taken) for name, taken in seconds.items()}


def _time(call: Callable[[], object]) -> Times:
    n_calls = 20

    def many() -> None:
        for _ in range(n_calls):
            call()

    return in_turns({"call": many}, 15)["call"].scaled(1 / n_calls)


def looks() -> list[Look]:
    """Words and pictures of a small and of a very large layout and plan."""
    small = (
        pt.Layout((16, 16), "block, cyclic(2) @ 2x2"),
        pt.Layout((16, 16), "cyclic(3), block @ 2x2"),
    )
    shape = tuple(int(extent) for extent in SHAPE.split("x"))
    large = pt.Layout(shape, SOURCE), pt.Layout(shape, TARGET)
    plans = [pt.plan(*pair, dtype="float64") for pair in (small, large)]
    shown: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "repr(layout)": (lambda: repr(small[0]), lambda: repr(large[1])),
        "str(layout)": (lambda: str(small[0]), lambda: str(large[1])),
        "layout.draw()": (lambda: small[0].draw(), lambda: large[1].draw()),
        "repr(plan)": (lambda: repr(plans[0]), lambda: repr(plans[1])),
        "plan.explain()": (lambda: plans[0].explain(), lambda: plans[1].explain()),
        "plan.draw()": (lambda: plans[0].draw(), lambda: plans[1].draw()),
    }
    return [Look(what, _time(few), _time(many)) for what, (few, many) in shown.items()]
