"""The order of complex numbers as NumPy and SciPy have it: by real parts, then by imaginary ones.

Dense arrays refuse to compare so; beside sparse tensors, which do, dense operands do too.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from partita._array.array import Array
from partita._functions.creation import asarray
from partita._functions.elementwise import imag, isnan, real
from partita._functions.searching import where

# What decides where real parts differ.
_STRICT = {
    operator.lt: operator.lt,
    operator.le: operator.lt,
    operator.gt: operator.gt,
    operator.ge: operator.gt,
}


def dense_compared(left: Array, right: Any, compare: Any) -> Any:
    """Return where a comparison of two dense operands holds. Collective."""
    if compare not in _STRICT or not _is_complex(left, right):
        return compare(left, right)
    return _ordered(left, _as_array(right, left), compare)


def dense_extreme(left: Array, right: Any, function: Any) -> Any:
    """Return `np.maximum` or `np.minimum` of two dense operands. Collective."""
    if not _is_complex(left, right):
        return function(left, right)
    other = _as_array(right, left)
    is_first = _ordered(left, other, operator.ge if function is np.maximum else operator.le)
    return where(is_first | isnan(left), left, other)


def _is_complex(left: Array, right: Any) -> bool:
    given = right.dtype if hasattr(right, "dtype") else np.asarray(right).dtype
    kinds = {np.dtype(left.dtype).kind, np.dtype(given).kind}
    return "c" in kinds and kinds <= set("biufc")


def _as_array(given: Any, like: Array) -> Array:
    return given if isinstance(given, Array) else asarray(np.asarray(given), team=like.team)


def _ordered(left: Array, right: Array, compare: Any) -> Any:
    a, b = (real(one) for one in (left, right))
    p, q = (imag(one) for one in (left, right))
    is_known = ~(isnan(p) | isnan(q))
    return (_STRICT[compare](a, b) & is_known) | ((a == b) & compare(p, q))
