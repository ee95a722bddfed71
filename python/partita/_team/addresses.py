"""Where the ranks of a team are: address and process id of each."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from partita._team.team import Team

Address = tuple[str, int]

_ip: list[str] = []  # found once


def my_ip() -> str:
    """This node's address, as far as it can be known without asking anyone."""
    if not _ip:
        _ip.append(_found_ip())
    return _ip[0]


def _found_ip() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Sends nothing: the system only says by which of its addresses it would.
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


def here() -> Address:
    """This process."""
    return my_ip(), os.getpid()


def known(team: Team) -> list[Address] | None:
    """The addresses of a team's ranks, if they can be told without communication."""
    if team.native.is_one_process:
        return [here()] * team.size
    return team.known_addresses


def addresses(team: Team) -> list[Address]:
    """The addresses of a team's ranks. On processes the first call is collective."""
    found = known(team)
    if found is None:
        found = [(str(ip), int(pid)) for ip, pid in team.gather_alike("locations", "", here())]
        team.known_addresses = found
    return found
