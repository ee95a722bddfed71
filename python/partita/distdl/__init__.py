"""The interface of a DistDL back-end on NumPy arrays: partitions, and primitives with adjoints.

- `Partition`, `CartesianPartition`: teams of workers, thin wrappers of `partita.Team` and `Grid`.
- `Broadcast`, `SumReduce`, `AllSumReduce`, `HaloExchange`, `Repartition` (also `Transpose`),
  `AllGather`, `ReduceScatter`: `forward` and `adjoint`; each is a plan between two layouts.
- `halo_widths`, `send_widths`, `Window`: what sliding kernels need; `interpolation_widths`.

All adjoints use one inner product: the plain sum over all workers' local arrays, in which every
replica is a separate coordinate. `partita.torch` has the same primitives as modules with gradients.

Arithmetic only:

- `pairing`: who broadcasts to whom; `layouts`: the pair of layouts behind each primitive.
- `windows`, `interpolation`: what kernels need from their neighbours.

Acting on workers:

- `partition`: partitions; `rooted`: the teams of a broadcast or a sum; `errors`.
- `movement`: a chain of plans with its adjoint.
- `agree`: what workers tell each other before anything moves; `primitive`: the base that does so.
- `primitives`: between two partitions; `axes`: along the axes of one.
- `halo`: halo exchange; `halo_back`: its adjoint in place.
- `functions`: `partita.broadcast` and the others, on teams and grids.
"""

from partita.distdl.axes import AllGather, AllSumReduce, ReduceScatter
from partita.distdl.errors import BroadcastRuleError, InactivePartition, RankError
from partita.distdl.halo import HaloExchange, WindowExchange
from partita.distdl.interpolation import interpolation_needs, interpolation_widths
from partita.distdl.movement import Movement
from partita.distdl.partition import CartesianPartition, Partition
from partita.distdl.primitive import Primitive
from partita.distdl.primitives import Broadcast, Repartition, SumReduce
from partita.distdl.windows import Window, halo_widths, send_widths, split

Transpose = Repartition

__all__ = [
    "AllGather",
    "AllSumReduce",
    "Broadcast",
    "BroadcastRuleError",
    "CartesianPartition",
    "HaloExchange",
    "InactivePartition",
    "Movement",
    "Partition",
    "Primitive",
    "RankError",
    "ReduceScatter",
    "Repartition",
    "SumReduce",
    "Transpose",
    "Window",
    "WindowExchange",
    "halo_widths",
    "interpolation_needs",
    "interpolation_widths",
    "send_widths",
    "split",
]
