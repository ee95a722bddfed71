"""Judging what others hand over: `pt.check`.

>>> from partita import check
>>> check({"shape": (4,), "partitions": {}})[0].reason
'field-missing'
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from partita._args import flag
from partita._errors import ProtocolError, words_of
from partita._findings import Finding, listed
from partita._partita import check_dicts
from partita._protocol import heat
from partita._protocol.dictionary import dictionary_of, unpicklable
from partita._team.team import a_team

if TYPE_CHECKING:
    from partita._team.team import Team


def _found(obj: Any) -> Any:
    """The dictionary, or the finding that there is none."""
    try:
        return dictionary_of(obj)
    except ProtocolError as error:
        return Finding("", error.reason, str(error))
    except Exception as error:
        words = f"asking for the dictionary raised {words_of(error)[:250]}"
        return Finding("", "protocol-raised", words)


def _wrong_tables(dicts: list[Any], are_ranks: bool) -> list[tuple[str, str, str]]:
    """What importing would refuse in tables, by themselves and together."""
    if "pandas" not in sys.modules:
        return []
    from partita._tables import schema

    read = [schema.told_in_dictionary(one) for one in dicts]
    wrong = [
        (f"ranks[{rank}].{path}" if are_ranks else path, reason, message)
        for rank, (_, problems) in enumerate(read)
        for path, reason, message in problems
    ]
    return wrong or schema.disagreement([one for told, _ in read for one in told])


def check(obj: Any, *, strict: bool = False, team: Team | None = None) -> list[Finding]:
    """Return everything that is wrong with an object, its dictionary, or those of all ranks.

    A list or tuple holds the dictionaries of all ranks, in order, and is checked across ranks. With
    `team`, a collective call, so is what its ranks pass together. `strict` allows nothing that the
    protocols' texts do not allow. Never raises on bad input, and never calls `get`.
    """
    strict = flag(strict, "strict")
    if team is not None and a_team(team).size > 1:
        from partita._protocol import across_ranks

        return across_ranks.check(obj, team, strict)
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
        stale = [] if are_ranks else listed(heat.stale(obj, dicts[0]))
        local = [one for own in dicts for one in unpicklable(own)] if strict else []
        wrong = check_dicts(dicts, are_ranks, strict) or _wrong_tables(dicts, are_ranks)
        return missing + listed(wrong) + stale + local
    except Exception as error:
        # Only what an object's own code does while it is looked at can come here.
        words = f"reading the dictionary raised {words_of(error)[:250]}"
        return [*missing, Finding("", "protocol-raised", words)]
