"""Judging what others hand over: `pt.check`.

>>> from partita import check
>>> check({"shape": (4,), "partitions": {}})[0].reason
'field-missing'
"""

from __future__ import annotations

import pickle
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from partita import _heat
from partita._args import a_team, flag
from partita._errors import ProtocolError, words_of
from partita._partita import check_dicts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partita._team import Team

# Attributes that hold a dictionary, newest first; the last is that of the first drafts.
PARTITIONED = ("__partitioned__", "__partitioned_interface__")
DISTARRAY = ("__distarray__",)


@dataclass(frozen=True)
class Finding:
    """One problem: where it is, a stable code, and what to do about it."""

    path: str
    reason: str
    message: str

    def __str__(self) -> str:
        return f"{self.path or 'the dictionary'}: {self.message} [{self.reason}]"


def listed(found: Iterable[tuple[str, str, str]]) -> list[Finding]:
    """Findings from the core's triples."""
    return [Finding(*one) for one in found]


def refuse(findings: list[Finding], what: str) -> ProtocolError:
    """The error that says all findings at once."""
    shown = [str(finding) for finding in findings[:8]]
    if len(findings) > 8:
        shown.append(f"... and {len(findings) - 8} more")
    text = "\n  ".join([f"{what} has {len(findings)} problem(s):", *shown])
    return ProtocolError(text, findings[0].reason, tuple(findings))


def dictionary_of(obj: Any, names: tuple[str, ...] = PARTITIONED + DISTARRAY) -> Any:
    """The dictionary that an object offers as property, attribute or method, or is."""
    if isinstance(obj, dict):
        return obj
    for name in names:
        try:
            value = getattr(obj, name)
            return value() if callable(value) else value
        except AttributeError:
            if hasattr(type(obj), name):
                raise
    message = (
        f"a {type(obj).__name__} has none of {', '.join(names)}; "
        "hand over an object that does, or the dictionary itself"
    )
    raise ProtocolError(message, "not-a-dict")


def _found(obj: Any) -> Any:
    """The dictionary, or the finding that there is none."""
    try:
        return dictionary_of(obj)
    except ProtocolError as error:
        return Finding("", error.reason, str(error))
    except Exception as error:
        words = f"asking for the dictionary raised {words_of(error)[:250]}"
        return Finding("", "protocol-raised", words)


def unpicklable(dictionary: Any) -> list[Finding]:
    """The problem that `get` cannot be pickled, and so the dictionary cannot."""
    get = dict.get(dictionary, "get") if isinstance(dictionary, dict) else None
    if not callable(get):
        return []
    try:
        pickle.Pickler(_Nowhere(), pickle.HIGHEST_PROTOCOL).dump(get)
    except Exception as error:
        name = getattr(get, "__qualname__", type(get).__qualname__)
        words = f"{str(name)[-60:]} ({words_of(error)})"
        message = f"field 'get' is not picklable: {words}; use a function of a module"
        return [Finding("get", "get-not-picklable", message)]
    return []


class _Nowhere:
    """A file that keeps nothing: a method's object may be large."""

    def write(self, data: Any) -> int:
        return len(data)


def _wrong_tables(dicts: list[Any], are_ranks: bool) -> list[tuple[str, str, str]]:
    """What importing would refuse in tables, by themselves and together."""
    if "pandas" not in sys.modules:
        return []
    from partita import _schema

    read = [_schema.told_in_dictionary(one) for one in dicts]
    wrong = [
        (f"ranks[{rank}].{path}" if are_ranks else path, reason, message)
        for rank, (_, problems) in enumerate(read)
        for path, reason, message in problems
    ]
    return wrong or _schema.disagreement([one for told, _ in read for one in told])


def check(obj: Any, *, strict: bool = False, team: Team | None = None) -> list[Finding]:
    """Everything that is wrong with an object, its dictionary, or those of all ranks.

    A list or tuple holds the dictionaries of all ranks, in order, and is checked across them; so is
    what the ranks of `team` hand over together, a collective call. `strict` forgives nothing that
    the protocols' texts do not allow. Never raises on bad input, never calls `get`.
    """
    strict = flag(strict, "strict")
    if team is not None and a_team(team).size > 1:
        from partita import _joint

        return _joint.check(obj, team, strict)
    are_ranks = isinstance(obj, list | tuple)
    found = [_found(one) for one in obj] if are_ranks else [_found(obj)]
    missing = [
        Finding(f"ranks[{rank}]" if are_ranks else "", one.reason, one.message)
        for rank, one in enumerate(found)
        if isinstance(one, Finding)
    ]
    dicts = [one for one in found if not isinstance(one, Finding)]
    if missing and not dicts:
        return missing
    try:
        stale = [] if are_ranks else listed(_heat.stale(obj, dicts[0]))
        local = [one for own in dicts for one in unpicklable(own)] if strict else []
        wrong = check_dicts(dicts, are_ranks, strict) or _wrong_tables(dicts, are_ranks)
        return missing + listed(wrong) + stale + local
    except Exception as error:
        # Only what an object's own code does while it is looked at can come here.
        words = f"reading the dictionary raised {words_of(error)[:250]}"
        return [*missing, Finding("", "protocol-raised", words)]
