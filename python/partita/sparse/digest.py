"""Whether ranks that hold one slice have the same content."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from partita._errors import MismatchError

if TYPE_CHECKING:
    from partita._team.team import Team
    from partita.sparse.block import Block
    from partita.sparse.slices import Slices


def digest(block: Block) -> bytes:
    """Return a number of 16 bytes that equal blocks have in common, and others have not."""
    found = hashlib.blake2b(digest_size=16)
    for one in block.tidy().arrays:
        found.update(one.dtype.str.encode())
        found.update(np.ascontiguousarray(one).view(np.uint8).data)
    return found.digest()


def check_replicas(team: Team, slices: Slices, block: Block) -> None:
    """Refuse copies of one slice that differ. Collective, unless no slice has copies."""
    owners = slices.owners
    if len(set(owners)) == team.size:
        return
    told = team.gather_inside("blocks of a slice", digest(block))
    for rank, owner in enumerate(owners):
        if told[rank] != told[owner]:
            message = f"ranks {owner} and {rank} give different blocks for slice"
            message += f" {slices.slice_of(rank)}; give the same"
            raise MismatchError(message, "slice-differs", rank)
