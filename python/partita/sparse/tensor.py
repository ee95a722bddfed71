"""Sparse tensors in many address spaces at once."""

from __future__ import annotations

from partita.sparse.absent import Absences
from partita.sparse.arithmetic import Arithmetic
from partita.sparse.building import Building
from partita.sparse.dispatch import Dispatch
from partita.sparse.forms import Forms
from partita.sparse.products import Products
from partita.sparse.rows import Rows
from partita.sparse.slicing import Slicing
from partita.sparse.telling import telling_methods


@telling_methods
class DistTensor(Building, Forms, Slicing, Rows, Products, Arithmetic, Dispatch, Absences):
    """A sparse tensor whose dimensions are replicated, or distributed over a grid of ranks."""

    __slots__ = ()
