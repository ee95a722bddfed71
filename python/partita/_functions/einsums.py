"""Sums of products by subscripts: `einsum`.

Operands are contracted two at a time, the pair first whose result is the smallest beside its
operands. A pair becomes a product of matrices, or of elements where nothing is summed.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from partita._array.array import Array
from partita._functions.elementwise import fitted_to
from partita._functions.manipulation import permute_dims, reshape
from partita._functions.matmul import product
from partita._functions.products import alike, cast, diagonal
from partita._functions.subscripts import parsed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from partita._array.array import Array


class Term(NamedTuple):
    """An array with a letter for each dimension."""

    array: Array
    letters: str


def einsum(*operands: Any, out: Any = None, dtype: Any = None, optimize: Any = True) -> Array:
    """Return sums of products by subscripts, as NumPy's function of this name does.

    Operands are always contracted in a good order; `optimize` is taken for NumPy's sake.

    >>> import partita as pt
    >>> print(pt.einsum("ij,j->i", [[1, 2], [3, 4]], [1, 1]))
    [3 7]
    """
    inputs, output, given = parsed(operands)
    arrays = alike(*given)
    if dtype is not None:
        arrays = [cast(one, np.dtype(dtype)) for one in arrays]
    terms = _with_one_size([Term(*one) for one in zip(arrays, inputs, strict=True)])
    terms = [_on_diagonals(term) for term in terms]
    while len(terms) > 1:
        first, second = _best_pair(terms, output)
        rest = [one for at, one in enumerate(terms) if at not in (first, second)]
        wanted = set(output).union(*(one.letters for one in rest))
        terms = [*rest, _contracted(terms[first], terms[second], wanted)]
    made = _summed(terms[0], output)
    order = [made.letters.index(letter) for letter in output]
    turned = permute_dims(made.array, order) if order != sorted(order) else made.array
    # What nothing was computed for is still the operand itself.
    result: Array = fitted_to(+turned if any(turned is one for one in given) else turned, out)
    return result


def _with_one_size(terms: Sequence[Term]) -> list[Term]:
    """Terms without dimensions of 1 that stand for a larger size elsewhere; others must agree."""
    sizes: dict[str, int] = {}
    for array, letters in terms:
        own: dict[str, int] = {}
        for letter, size in zip(letters, array.shape, strict=True):
            known = sizes.setdefault(letter, size)
            is_alike = own.setdefault(letter, size) == size
            if not is_alike or (size != known and 1 not in (size, known)):
                message = f"subscript {letter!r} has sizes {known} and {size}"
                raise ValueError(f"{message}; those of one letter must agree")
            if known == 1:
                sizes[letter] = size
    return [_narrowed(term, sizes) for term in terms]


def _narrowed(term: Term, sizes: dict[str, int]) -> Term:
    array, letters = term
    kept = [size == sizes[one] for one, size in zip(letters, array.shape, strict=True)]
    if all(kept):
        return term
    index = tuple(slice(None) if keep else 0 for keep in kept)
    return Term(array[index], "".join(one for one, keep in zip(letters, kept, strict=True) if keep))


def _on_diagonals(term: Term) -> Term:
    """A term in which each letter stands once: of one that stands twice the diagonal is left."""
    array, letters = term
    for letter in sorted(set(letters)):
        while letters.count(letter) > 1:
            first = letters.index(letter)
            second = letters.index(letter, first + 1)
            array = diagonal(array, 0, first, second)
            rest = [one for at, one in enumerate(letters) if at not in (first, second)]
            letters = "".join([*rest, letter])
    return Term(array, letters)


def _summed(term: Term, wanted: Iterable[str]) -> Term:
    """A term without the letters that nobody else wants."""
    axes = tuple(at for at, one in enumerate(term.letters) if one not in wanted)
    if not axes:
        return term
    is_bool = term.array.dtype == np.bool_
    how, dtype = ("any", None) if is_bool else ("sum", term.array.dtype)
    made = term.array._reduce(how, axes, False, dtype)
    return Term(made, "".join(one for one in term.letters if one in wanted))


def _best_pair(terms: Sequence[Term], output: str) -> tuple[int, int]:
    """The pair whose result is the smallest beside its operands, the first of equals."""

    def growth(pair: tuple[int, int]) -> tuple[int, int]:
        sizes: dict[str, int] = {}
        for at in pair:
            sizes |= dict(zip(terms[at].letters, terms[at].array.shape, strict=True))
        others = [one.letters for at, one in enumerate(terms) if at not in pair]
        wanted = set(output).union(*others)
        made = math.prod(size for letter, size in sizes.items() if letter in wanted)
        before = sum(terms[at].array.size for at in pair)
        return made - before, math.prod(sizes.values())

    return min(combinations(range(len(terms)), 2), key=growth)


def _contracted(a: Term, b: Term, wanted: set[str]) -> Term:
    """The product of two terms, summed over the letters that nobody else wants."""
    a = _summed(a, wanted.union(b.letters))
    b = _summed(b, wanted.union(a.letters))
    shared = [one for one in a.letters if one in b.letters]
    stack = [one for one in shared if one in wanted]
    inner = [one for one in shared if one not in wanted]
    rows = [one for one in a.letters if one not in shared]
    columns = [one for one in b.letters if one not in shared]
    letters = "".join([*stack, *rows, *columns])
    if not inner:
        return Term(_beside(a, letters) * _beside(b, letters), letters)
    sizes = dict(zip(a.letters, a.array.shape, strict=True))
    sizes |= dict(zip(b.letters, b.array.shape, strict=True))
    if not rows and not columns:
        both = "".join([*stack, *inner])
        return _summed(Term(_beside(a, both) * _beside(b, both), both), wanted)
    left = _grouped(a, [stack, rows, inner], sizes)
    right = _grouped(b, [stack, inner, columns], sizes)
    return Term(reshape(product(left, right), [sizes[one] for one in letters]), letters)


def _beside(term: Term, letters: str) -> Array:
    """The array with its dimensions where their letters stand, and 1 where others do."""
    order = [term.letters.index(one) for one in letters if one in term.letters]
    turned = permute_dims(term.array, order)
    index = tuple(slice(None) if one in term.letters else None for one in letters)
    return turned[index] if None in index else turned


def _grouped(term: Term, groups: Sequence[Sequence[str]], sizes: dict[str, int]) -> Array:
    """The stack as it is, and each of two groups of dimensions as one."""
    stack, first, second = groups
    order = [term.letters.index(one) for group in groups for one in group]
    shape = [sizes[one] for one in stack]
    shape += [math.prod(sizes[one] for one in group) for group in (first, second)]
    turned = permute_dims(term.array, order)
    return turned if list(turned.shape) == shape else reshape(turned, shape)


def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: Any = False) -> Any:
    """Return in which order NumPy would multiply, and a text of what it costs; for inspection."""
    shapes = [
        np.broadcast_to(np.empty((), one.dtype), one.shape) if isinstance(one, Array) else one
        for one in operands
    ]
    return np.einsum_path(*shapes, optimize=optimize, einsum_call=einsum_call)


__all__ = ["einsum", "einsum_path"]
