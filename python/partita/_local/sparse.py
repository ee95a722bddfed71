"""Sparse matrices in this rank's memory, compressed by rows.

A matrix is (indptr, indices, data): where each row begins, the column of each entry, its value.
`indptr` and `indices` are both int32 or both int64; values are truth values (joined by "or" and
"and"), integers, which wrap, or floating and complex numbers of 32 bits and more. Operands of one
call have one type. Dense operands lie in two places: row j is `own[j]`, or `ghosts[j - len(own)]`
behind them; all are vectors, or all are matrices in C order.

Wrong pointers and indices are a `ValueError` that names them; results never depend on the number
of threads.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from partita._local.threads import n_threads
from partita._memory.warm import over
from partita._partita import (
    local_sparse_chosen_columns,
    local_sparse_combined,
    local_sparse_compressed,
    local_sparse_compressed_groups,
    local_sparse_divided,
    local_sparse_grouped,
    local_sparse_is_tidy,
    local_sparse_located,
    local_sparse_product,
    local_sparse_rows_of,
    local_sparse_sampled,
    local_sparse_taken_from,
    local_sparse_taken_rows,
    local_sparse_tidy,
    local_sparse_times,
    local_sparse_times_transposed,
    local_sparse_transposed,
    local_sparse_transposed_order,
    local_sparse_values_from,
)
from partita._types import Local, LocalCsr, MadeCsr

Csr: TypeAlias = LocalCsr


def compressed(
    rows: Local,
    columns: Local,
    values: Local,
    shape: tuple[int, int],
    *,
    threads: int | None = None,
) -> Csr:
    """Return the matrix of triplets in any order: sorted columns, duplicates added."""
    return compressed_lists([(rows, columns, values)], shape, threads=threads)


def compressed_lists(
    lists: list[Csr], shape: tuple[int, int], *, threads: int | None = None
) -> Csr:
    """Return the same of several lists of triplets, as if they lay one behind the other."""
    given = [_three(*one) for one in lists]
    made = local_sparse_compressed(given, shape, _threads(threads))
    return _csr(made, shape[0], given[0][0].dtype, given[0][2].dtype)


def divided(
    rows: Local, columns: Local, values: Local, cuts: Local, *, threads: int | None = None
) -> tuple[Csr, list[int]]:
    """Return triplets grouped by stretches of rows, which begin at `cuts` and end at the last.

    Rows count from the first of their stretch. Also how many entries each stretch has.
    """
    given = _three(rows, columns, values)
    *memory, counts = local_sparse_divided(given, _row(cuts), _threads(threads))
    kinds = (rows.dtype, columns.dtype, values.dtype)
    made = [over(one, len(rows), kind) for one, kind in zip(memory, kinds, strict=True)]
    return (made[0], made[1], made[2]), counts


def grouped(
    rows: Local,
    columns: Local,
    values: Local,
    cuts: list[int],
    n_entries: int,
    *,
    threads: int | None = None,
) -> tuple[Local, list[list[int]]]:
    """Return triplets brought into buckets of stretches of rows, as bytes of an entry in each row.

    Stretches begin at `cuts` and end at the last; `n_entries` are those of all who take part. Also
    how many entries each bucket of each stretch has.
    """
    given = _three(rows, columns, values)
    memory, counts = local_sparse_grouped(given, cuts, n_entries, _threads(threads))
    # The row of an entry inside its bucket has 32 bits.
    width = 4 + columns.itemsize + values.itemsize
    return over(memory, len(rows) * width, np.uint8).reshape(-1, width), counts


def compressed_groups(
    groups: list[tuple[Local, list[int]]],
    kinds: tuple[np.dtype[Any], np.dtype[Any]],
    stretch: tuple[list[int], int],
    extents: tuple[int, int],
    *,
    threads: int | None = None,
) -> Csr:
    """Return the matrix of a stretch of rows: sorted columns, duplicates added.

    Everybody who took part gives its entries of the stretch and how many each bucket has. `kinds`
    are the types of columns and values, `stretch` all cuts and the number of the stretch, `extents`
    the number of all entries and of columns.
    """
    cuts, number = stretch
    index, value = kinds
    given = [(_row(one).reshape(-1), counts) for one, counts in groups]
    made = local_sparse_compressed_groups(
        given, (index.name, value.name), stretch, extents, _threads(threads)
    )
    return _csr(made, cuts[number + 1] - cuts[number], index, value)


def tidy(indptr: Local, indices: Local, data: Local, *, threads: int | None = None) -> Csr:
    """Return the matrix with sorted columns, duplicates added; the same arrays if it is so."""
    made = local_sparse_tidy(_three(indptr, indices, data), _threads(threads))
    if made is None:
        return indptr, indices, data
    return _csr(made, len(indptr) - 1, indptr.dtype, data.dtype)


def is_tidy(indptr: Local, indices: Local, *, threads: int | None = None) -> bool:
    """Return whether the columns of every row rise."""
    return local_sparse_is_tidy(_row(indptr), _row(indices), _threads(threads))


def transposed(
    indptr: Local, indices: Local, data: Local, n_columns: int, *, threads: int | None = None
) -> Csr:
    """Return the matrix with rows and columns exchanged; entries of a row keep their order."""
    given = _three(indptr, indices, data)
    made = local_sparse_transposed(given, n_columns, _threads(threads))
    return _csr(made, n_columns, indptr.dtype, data.dtype)


def transposed_order(
    indptr: Local, indices: Local, n_columns: int, *, threads: int | None = None
) -> Csr:
    """Return the pattern turned; the values are the positions (int64) of its entries."""
    given = (_row(indptr), _row(indices))
    made = local_sparse_transposed_order(*given, n_columns, _threads(threads))
    return _csr(made, n_columns, indptr.dtype, np.dtype(np.int64))


def rows_of(indptr: Local, *, threads: int | None = None) -> Local:
    """Return the row of each entry."""
    memory, n_entries = local_sparse_rows_of(_row(indptr), _threads(threads))
    return over(memory, n_entries, indptr.dtype)


def times(
    indptr: Local,
    indices: Local,
    data: Local,
    own: Local,
    ghosts: Local,
    out: Local,
    add: bool = False,
    *,
    threads: int | None = None,
) -> None:
    """Write to `out`, or add to it, the product with rows in two places."""
    right = (_row(own), _row(ghosts))
    local_sparse_times(_three(indptr, indices, data), right, out, add, _threads(threads))


def times_transposed(
    indptr: Local,
    indices: Local,
    data: Local,
    right: Local,
    own: Local,
    ghosts: Local,
    conjugate: bool = False,
    *,
    threads: int | None = None,
) -> None:
    """Add to rows in two places: that of each entry's column gets its value times `right[i]`."""
    given, to = _three(indptr, indices, data), (own, ghosts)
    local_sparse_times_transposed(given, _row(right), to, conjugate, _threads(threads))


def sampled(
    indptr: Local,
    indices: Local,
    left: Local,
    own: Local,
    ghosts: Local,
    out: Local,
    *,
    threads: int | None = None,
) -> None:
    """Write for each entry the product of `left[i]` and the row of its column, summed."""
    pattern, right = (_row(indptr), _row(indices)), (_row(own), _row(ghosts))
    local_sparse_sampled(pattern, _row(left), right, out, _threads(threads))


def product(a: Csr, own: Csr, ghosts: Csr, n_columns: int, *, threads: int | None = None) -> Csr:
    """Return sparse times sparse, columns sorted; the right operand's rows lie in two places."""
    given = (_three(*a), _three(*own), _three(*ghosts))
    made = local_sparse_product(*given, n_columns, _threads(threads))
    return _csr(made, len(a[0]) - 1, a[0].dtype, a[2].dtype)


def combined(a: Csr, b: Csr, operation: str, n_columns: int, *, threads: int | None = None) -> Csr:
    """Return two tidy matrices of one shape combined element by element.

    "add", "subtract", "maximum" and "minimum" have entries where one matrix has, absent ones count
    as 0; "multiply" has entries where both have.
    """
    given = (_three(*a), _three(*b))
    made = local_sparse_combined(*given, operation, n_columns, _threads(threads))
    return _csr(made, len(a[0]) - 1, a[0].dtype, a[2].dtype)


def taken_rows(
    indptr: Local, indices: Local, data: Local, rows: Local, *, threads: int | None = None
) -> Csr:
    """Return rows (int64) in any order, repeated ones too."""
    given = _three(indptr, indices, data)
    made = local_sparse_taken_rows(given, _row(rows), _threads(threads))
    return _csr(made, len(rows), indptr.dtype, data.dtype)


def located(
    indices: Local, n_rows: int, starts: Local, owners: Local
) -> tuple[Local, Local, list[int]] | None:
    """Return who has rows (int64) of stretches that begin at `starts`, and where; who is asked.

    None if an index is outside. Negative ones count from the end.
    """
    found = np.empty(len(indices), np.int64), np.empty(len(indices), np.int64)
    asked = local_sparse_located(indices, n_rows, (starts, owners), found)
    if asked is None:
        return None
    return *found, sorted({int(owners[at]) for at, is_asked in enumerate(asked) if is_asked})


def taken_from(
    sources: list[Csr | None], owners: Local, places: Local, *, threads: int | None = None
) -> tuple[Csr, Local]:
    """Return rows (int64) of several matrices in any order, and where each begins in its own.

    `owners` (int64) are the numbers of their matrices, of which those may be None that no row
    comes from. Others may write to the matrices meanwhile: then the result is of no use.
    """
    given = [None if one is None else _three(*one) for one in sources]
    like = next(one for one in given if one is not None)
    made, starts = local_sparse_taken_from(given, _row(owners), _row(places), _threads(threads))
    found = _csr(made, len(places), like[0].dtype, like[2].dtype)
    return found, over(starts, len(places), np.int64)


def values_from(
    sources: list[Local | None],
    owners: Local,
    starts: Local,
    indptr: Local,
    *,
    threads: int | None = None,
) -> Local:
    """Return the values alone of rows that `taken_from` took, of matrices of the same patterns."""
    dtype = next(one.dtype for one in sources if one is not None)
    memory = local_sparse_values_from(sources, owners, starts, indptr, _threads(threads))
    return over(memory, int(indptr[-1]), dtype)


def chosen_columns(
    indptr: Local, indices: Local, data: Local, new_columns: Local, *, threads: int | None = None
) -> Csr:
    """Return the matrix with new numbers (int64) of columns; -1 drops one. Entries keep order."""
    given = _three(indptr, indices, data)
    made = local_sparse_chosen_columns(given, _row(new_columns), _threads(threads))
    return _csr(made, len(indptr) - 1, indptr.dtype, data.dtype)


def _threads(wanted: int | None) -> int:
    return n_threads() if wanted is None else wanted


def _row(array: Local) -> Local:
    return np.ascontiguousarray(array)


def _three(a: Local, b: Local, c: Local) -> Csr:
    return _row(a), _row(b), _row(c)


def _csr(made: MadeCsr, n_rows: int, index: np.dtype[Any], value: np.dtype[Any]) -> Csr:
    indptr, indices, data, n_entries = made
    return (
        over(indptr, n_rows + 1, index),
        over(indices, n_entries, index),
        over(data, n_entries, value),
    )
