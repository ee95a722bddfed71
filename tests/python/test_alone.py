"""One rank is alone: its other threads and its forked children read values as it does."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from bodies_forks import Child

import partita as pt

pytestmark = pytest.mark.timeout(120)


def looked_at(array: Any) -> list[Any]:
    """Looks of every kind, as plain numbers."""
    later = array * 2 + 1
    return [
        array.gather().tolist(),
        np.asarray(later).tolist(),
        float(later.sum()),
        str(array),
        array.item(3),
        array[array > 5].tolist(),
        array[[2, 0]].tolist(),
        np.asarray(pt.sort(-array)).tolist(),
        array.copy().tolist(),
        array.redistribute("*, block").local.tolist(),
        (array @ array.T).tolist(),
        pt.asarray([1.0, 2.0]).tolist(),
    ]


@pytest.mark.parametrize("shape", [(3, 4), (300, 40)], ids=str)
def test_threads_may_look_at_the_same_time(shape: tuple[int, int]) -> None:
    array: Any = pt.arange(float(np.prod(shape))).reshape(shape)
    wanted = looked_at(array)
    found: list[Any] = []

    def look() -> None:
        try:
            for _ in range(5):
                found.append(looked_at(array) == wanted)
        except Exception as error:
            found.append(error)

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 20


@pytest.mark.parametrize("is_computed", [False, True])
def test_a_forked_child_goes_on_with_its_arrays(is_computed: bool) -> None:
    array: Any = pt.arange(12.0).reshape(3, 4) + 0
    large: Any = pt.ones(1_000_000) * 3
    if is_computed:
        pt.compute(array, large)

    def work() -> Any:
        array[0] = 100
        return [looked_at(array), float((large + 1).sum())]

    found = Child(work).result()
    assert array.gather().tolist() == np.arange(12.0).reshape(3, 4).tolist()
    array[0] = 100
    assert found == [looked_at(array), 4_000_000.0]


def test_what_is_gathered_is_a_copy() -> None:
    for size in (6, 100_000):
        array: Any = pt.arange(float(size))
        turned: Any = array[::-1]
        for one in (array, turned, array[1:3], pt.zeros(size), pt.asarray(np.arange(size))):
            whole: Any = one.gather()
            assert whole.flags.writeable
            before = float(one[0])
            whole[0] = 77
            assert float(one[0]) == before
        assert turned.gather()[0] == size - 1
    nothing: Any = pt.zeros((0, 3))
    number: Any = pt.asarray(5)
    for made, wanted in ((nothing, np.zeros((0, 3))), (number, np.asarray(5))):
        np.testing.assert_array_equal(made.gather(), wanted)
        np.testing.assert_array_equal(made.gather(root=0), wanted)
    with pytest.raises(pt.LayoutError, match="root 1"):
        pt.arange(3).gather(root=1)
