"""What the ranks of a team find out together about dictionaries that each of them has.

A rank whose dictionary is wrong still takes part in the exchange, so that every rank raises the
same error, naming that rank, and none waits.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from partita import _heat, _where
from partita._check import (
    DISTARRAY,
    PARTITIONED,
    Finding,
    dictionary_of,
    listed,
    refuse,
    unpicklable,
)
from partita._errors import PartitaError, ProtocolError, is_a, text_of, words_of
from partita._partita import (
    check_dicts,
    join_distarrays,
    join_partitioned,
    read_distarray,
    read_partitioned,
)

if TYPE_CHECKING:
    from partita._partita import DistDict, Layout, Partitions
    from partita._team import Team

Problem = tuple[str, str, str]


def share(
    team: Team, problems: list[Problem], own: Any, what: str, step: str = "table"
) -> list[Any]:
    """Every rank's value, or on every rank the error of those that have problems.

    Ranks that speak of something else (`what`) or are at another `step` are told so.
    """
    value = (problems, None if problems else own)
    # Nothing is encoded for a team of one.
    told = [value] if team.size == 1 else team.gather_alike("hand over", f"{what}: {step}", value)
    _refuse_all(team, [found for found, _ in told], what)
    return [value for _, value in told]


def bring(team: Team, kind: str, problems: list[Problem], own: Any) -> list[Any]:
    """Every rank's value, if all bring the same kind of thing and none has a problem.

    Every hand-over begins with this exchange, whatever a rank brings, so that nobody waits for a
    dictionary that another rank does not have.
    """
    value = (kind, problems, None if problems else own)
    told = [value] if team.size == 1 else team.gather_alike("hand over", "", value)
    _refuse_all(team, [found for _, found, _ in told], kind)
    ranks = {name: rank for rank, (name, _, _) in reversed(list(enumerate(told)))}
    if len(ranks) > 1:
        words = ", ".join(f"{name} on rank {rank}" for name, rank in sorted(ranks.items()))
        message = f"the ranks bring different things: {words}; bring the same on all of them"
        raise ProtocolError(message, "ranks-differ")
    return [value for _, _, value in told]


def _refuse_all(team: Team, told: list[list[Problem]], what: str) -> None:
    """Raise the problems that the ranks have told, each with its rank."""
    findings = [
        Finding(_path(rank, path, team), reason, message)
        for rank, found in enumerate(told)
        for path, reason, message in found
    ]
    if findings:
        raise refuse(findings, what)


def _path(rank: int, path: str, team: Team) -> str:
    if team.size == 1:
        return path
    return f"ranks[{rank}].{path}" if path else f"ranks[{rank}]"


def problem_of(error: Exception) -> list[Problem]:
    """An exception as problems to tell."""
    if is_a(error, PartitaError):
        found = [one for one in getattr(error, "findings", ()) if isinstance(one, Finding)]
        if found:
            return [(one.path, one.reason, one.message) for one in found]
        return [("", error.reason, text_of(error))]
    return [("", "protocol-raised", words_of(error))]


def read_parts(obj: Any, team: Team) -> tuple[dict[str, Any], Partitions, list[list[int]] | None]:
    """This rank's dictionary, read, and the local partitions of every rank; None if not SPMD."""
    dictionary: dict[str, Any] = {}
    problems: list[Problem] = []
    parts: Partitions | None = None
    try:
        dictionary = dictionary_of(obj, PARTITIONED)
        found, parts = read_partitioned(dictionary)
        problems = [*found, *_heat.stale(obj, dictionary)]
    except Exception as error:
        problems = problem_of(error)
    told = bring(team, "__partitioned__", problems, _summary(parts, team))
    assert parts is not None
    if team.size == 1:
        return dictionary, parts, None if parts.locals is None else [sorted(parts.locals)]
    _where.remember(team, [tuple(address) for _, address in told])
    found, holders = join_partitioned([summary for summary, _ in told])
    if found:
        raise refuse(listed(found), "__partitioned__")
    return dictionary, parts, holders


def _summary(parts: Partitions | None, team: Team) -> Any:
    """What the other ranks compare, and where this one is."""
    return None if parts is None or team.size == 1 else (parts.plain(), _where.here())


def read_dims(obj: Any, team: Team) -> tuple[DistDict, Layout, Layout | None]:
    """This rank's dictionary, read, with the layout of all and that of its halos."""
    problems: list[Problem] = []
    read: DistDict | None = None
    try:
        found, read = read_distarray(dictionary_of(obj, DISTARRAY))
        problems = list(found)
    except Exception as error:
        problems = problem_of(error)
    told = bring(team, "__distarray__", problems, None if read is None else read.plain())
    joint, layout, halo = join_distarrays(told)
    if joint:
        raise refuse(listed(joint), "__distarray__")
    assert read is not None
    assert layout is not None
    return read, layout, halo


def check(obj: Any, team: Team, strict: bool) -> list[Finding]:
    """What is wrong with the dictionaries of a team's ranks, by themselves and together."""
    problems: list[Problem] = []
    kind, own = "", None
    tables: list[Any] = []
    try:
        dictionary = dictionary_of(obj)
        problems = [*check_dicts([dictionary], False, strict), *_heat.stale(obj, dictionary)]
        if strict:
            problems += [(one.path, one.reason, one.message) for one in unpicklable(dictionary)]
        if not problems and "dim_data" in dictionary:
            _, read = read_distarray(dictionary)
            kind, own = "distarray", None if read is None else read.plain()
        elif not problems:
            kind, own = "partitioned", _summary(read_partitioned(dictionary)[1], team)
            tables, problems = _tables(dictionary)
    except Exception as error:
        problems = problem_of(error)
    try:
        told = share(team, problems, (kind, own, tables), "the dictionary", "check")
    except ProtocolError as error:
        return [one for one in error.findings if isinstance(one, Finding)]
    kinds = {name for name, _, _ in told}
    if len(kinds) > 1:
        return [Finding("", "ranks-differ", f"ranks speak {sorted(kinds)}; speak one protocol")]
    values = [value for _, value, _ in told]
    if kind == "distarray":
        return listed(join_distarrays(values)[0])
    every = [one for _, _, own_tables in told for one in own_tables]
    found, _ = join_partitioned([summary for summary, _ in values])
    return listed(found) or _table_disagreements(every)


def _tables(dictionary: Any) -> tuple[list[Any], list[Problem]]:
    """What this rank's tables are, and what is wrong with them; none without pandas."""
    if "pandas" not in sys.modules:
        return [], []
    from partita import _schema

    return _schema.told_in_dictionary(dictionary)


def _table_disagreements(told: list[Any]) -> list[Finding]:
    if not told:
        return []
    from partita import _schema

    return listed(_schema.disagreement(told))
