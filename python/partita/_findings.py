"""Findings: problems with what is handed over, one rank's and those of all ranks together.

A rank that has problems still takes part in the exchange, so that every rank raises the same
error, naming that rank, and none waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from partita._errors import PartitaError, ProtocolError, is_a, text_of, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partita._team.team import Team

# Path, reason and message, as ranks tell them.
Problem = tuple[str, str, str]


@dataclass(frozen=True)
class Finding:
    """One problem: its path, a stable code, and what to do about it."""

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
