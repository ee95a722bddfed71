"""What the ranks of a team find out together about dictionaries that each of them has.

A rank whose dictionary is wrong still takes part in the exchange, so that every rank raises the
same error, naming that rank, and none waits.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from partita._errors import ProtocolError
from partita._findings import Finding, Problem, bring, listed, problem_of, refuse, share
from partita._partita import (
    check_dicts,
    join_distarrays,
    join_partitioned,
    read_distarray,
    read_partitioned,
)
from partita._protocol import heat
from partita._protocol.dictionary import DISTARRAY, PARTITIONED, dictionary_of, unpicklable
from partita._team import addresses

if TYPE_CHECKING:
    from partita._partita import DistDict, Layout, Partitions
    from partita._team.team import Team


def read_parts(obj: Any, team: Team) -> tuple[dict[str, Any], Partitions, list[list[int]] | None]:
    """This rank's dictionary, read, and the local partitions of every rank; None if not SPMD."""
    dictionary: dict[str, Any] = {}
    problems: list[Problem] = []
    parts: Partitions | None = None
    try:
        dictionary = dictionary_of(obj, PARTITIONED)
        found, parts = read_partitioned(dictionary)
        problems = [*found, *heat.stale(obj, dictionary)]
    except Exception as error:
        problems = problem_of(error)
    told = bring(team, "__partitioned__", problems, _summary(parts, team))
    assert parts is not None
    if team.size == 1:
        return dictionary, parts, None if parts.locals is None else [sorted(parts.locals)]
    team.known_addresses = [tuple(address) for _, address in told]
    found, holders = join_partitioned([summary for summary, _ in told])
    if found:
        raise refuse(listed(found), "__partitioned__")
    return dictionary, parts, holders


def _summary(parts: Partitions | None, team: Team) -> Any:
    """What the other ranks compare, and where this one is."""
    return None if parts is None or team.size == 1 else (parts.plain(), addresses.here())


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
        problems = [*check_dicts([dictionary], False, strict), *heat.stale(obj, dictionary)]
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
    from partita._tables import schema

    return schema.told_in_dictionary(dictionary)


def _table_disagreements(told: list[Any]) -> list[Finding]:
    if not told:
        return []
    from partita._tables import schema

    return listed(schema.disagreement(told))
