"""Products along axes that `axes=` names, in types that are asked for."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy
import pytest
from numpy_corners import RANKS, Work, check

# Its types are stricter than what tests give to it.
np: Any = numpy

TALL = np.arange(24.0).reshape(2, 3, 4)
WIDE = np.arange(40.0).reshape(4, 5, 2)
TURNED = TALL + 1j * TALL[::-1]
CALLS: list[tuple[str, Any, Any, dict[str, Any]]] = [
    ("matmul", TALL, WIDE, {"axes": [(1, 2), (0, 1), (0, 1)]}),
    ("matmul", TALL, WIDE, {"axes": [(1, 2), (0, 1), (-1, 0)]}),
    ("matmul", TALL, WIDE, {"axes": [(2, 1), (1, 0), (1, 2)]}),
    ("matmul", TALL, WIDE, {"axes": [(0, 1), (0, 1), (0, 1)]}),
    ("matmul", TALL, WIDE, {"axes": [(1, 2), (0, 1)]}),
    ("matmul", TALL, WIDE, {"axes": ((1, 2), (0, 1), (0, 1))}),
    ("matmul", TALL, WIDE, {"axes": [(1, 5), (0, 1), (0, 1)]}),
    ("matmul", TALL, WIDE, {"axes": [(1, 1), (0, 1), (0, 1)]}),
    ("matmul", TALL, np.arange(4.0), {"axes": [(1, 2), 0, 0]}),
    ("matmul", TALL, np.arange(4.0), {"axes": [(1, 2), (0,), (0, 1)]}),
    ("matmul", np.arange(4.0), np.arange(4.0), {"axes": [(0,), (0,), ()]}),
    ("matmul", TALL, WIDE[..., 0], {"dtype": "f4"}),
    ("matmul", TALL, WIDE[..., 0], {"dtype": "i8"}),
    ("matmul", TALL, WIDE[..., 0], {"dtype": "i8", "casting": "unsafe"}),
    ("matmul", TURNED, WIDE[..., 0], {"casting": "no"}),
    ("vecdot", TURNED, TURNED, {"axes": [0, 0, ()]}),
    ("vecdot", TURNED, TURNED, {"axes": [0, 0]}),
    ("vecdot", TURNED, TURNED, {"axis": 0, "keepdims": True}),
    ("vecdot", TURNED, TURNED, {"axes": [2, 2, 0], "keepdims": True}),
    ("vecdot", TALL, TALL, {"dtype": "f4"}),
    ("vecdot", TALL, TALL, {"axis": 3}),
    ("matvec", TURNED, np.arange(3.0), {"axes": [(0, 1), 0, 0]}),
    ("vecmat", np.arange(2) + 1j, TALL, {"axes": [0, (0, 1), 0]}),
]


@pytest.mark.parametrize("n_ranks", RANKS)
def test_products_are_along_the_axes_that_are_named(n_ranks: int) -> None:
    def product(name: str, a: Any, b: Any, options: Any, np: Any, array: Any) -> Any:
        return getattr(np, name)(array(a), array(b), **options)

    works: dict[str, Work] = {
        f"{at} {call[0]} {call[3]}": partial(product, *call) for at, call in enumerate(CALLS)
    }
    check(works, n_ranks)
