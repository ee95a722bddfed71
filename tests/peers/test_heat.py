"""Heat 1.8 both ways, under a real launcher."""

from __future__ import annotations

from pathlib import Path

from launch import launch

HEAD = """
import heat as ht
import numpy as np
import torch
import partita as pt

team = pt.world()
rank, size = team.rank, team.size
"""

TAKE = """
CASES = [((7, 2), 0), ((2, 7), 1), ((2,), 0), ((0,), 0), ((5, 3), None), ((12, 4, 3), 2)]
for shape, split in CASES:
    whole = torch.arange(int(np.prod(shape)), dtype=torch.float32).reshape(shape)
    x = ht.array(whole, split=split)
    a = pt.asarray(x)
    assert a.shape == shape and a.dtype == np.float32, a
    np.testing.assert_array_equal(a.gather(), x.numpy())
    assert all(copied.shares_memory for copied in a.copies())
    if x.larray.numel():
        assert a.local.ctypes.data == x.larray.data_ptr()
        a.local[...] += 1
        assert (x.larray.numpy() == a.local).all()
        x.larray.add_(1)
        assert (x.larray.numpy() == a.local).all()
scalar = pt.asarray(ht.array(3.5))
assert scalar.shape == () and float(scalar.local) == 3.5
b = pt.from_partitioned(ht.arange(24, split=0).reshape((6, 4)))
tiles = b.redistribute(pt.Layout((6, 4), f"*, cyclic @ 1x{size}"))
np.testing.assert_array_equal(tiles.gather(), np.arange(24).reshape(6, 4))
"""

GIVE = """
whole = np.arange(70.0).reshape(10, 7)
for notation in (f"block, * @ {size}x1", f"block(last), * @ {size}x1", f"*, block @ 1x{size}"):
    layout = pt.Layout((10, 7), notation)
    a = pt.asarray(whole, layout, copy=True)
    x = ht.from_partition_dict(a.partitioned("heat"))
    assert x.shape == (10, 7)
    np.testing.assert_array_equal(x.numpy(), whole)
    a.local[...] *= 2
    np.testing.assert_array_equal(x.numpy(), 2 * whole)
    back = pt.asarray(x)
    assert np.shares_memory(back.local, a.local)


class Producer:
    def __init__(self, array):
        self.array = array

    @property
    def __partitioned__(self):
        return self.array.partitioned("heat")


y = ht.from_partitioned(Producer(pt.asarray(whole, pt.Layout((10, 7), f"block, * @ {size}x1"))))
np.testing.assert_array_equal((y + 1).numpy(), whole + 1)
"""

WRONG = """
# Heat computes starts in the array's own type: of 2^24 + 1 elements per rank the second is wrong.
n = 2**24 + 1
x = ht.zeros((size * n,), dtype=ht.float32, split=0)
found = pt.check(x)
reasons = {finding.reason for finding in found}
assert reasons == {"partitions-overlap", "partitions-gap"}, found
assert any("[16777216, 16777217)" in finding.message for finding in found), found
try:
    pt.asarray(x)
except pt.ProtocolError as error:
    assert "overlap" in str(error)
else:
    raise AssertionError("accepted")
# After it was changed in place, Heat hands on the old cuts.
y = ht.arange(3 * size, split=0)
_ = y.__partitioned__
shapes = [0] * size
shapes[0] = 3 * size
lshape = torch.tensor([[n] for n in shapes])
y.redistribute_(target_map=lshape)
assert {finding.reason for finding in pt.check(y)} == {"dictionary-stale"}
try:
    pt.asarray(y)
except pt.ProtocolError as error:
    assert error.reason == "dictionary-stale"
else:
    raise AssertionError("accepted")
"""


def test_arrays_of_heat_are_taken_over_and_handed_on(tmp_path: Path) -> None:
    launch(tmp_path, HEAD + TAKE + GIVE, 3)


def test_wrong_dictionaries_of_heat_are_refused_by_name(tmp_path: Path) -> None:
    launch(tmp_path, HEAD + WRONG, 3)
