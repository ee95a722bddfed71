"""partita as the back-end of DistDL.

    import partita.torch.backend
    partita.torch.backend.install()  # before the first import of distdl

    import distdl  # its partitions, primitives and layers now run on partita

DistDL knows one back-end, the module `distdl.backends.mpi`; `install` puts this one in its place.
Everything else stays as it was: partitions are made from mpi4py communicators.

Halos are exchanged in place, as in DistDL: forward in the input, backward in the given gradient.
Leaf tensors that require gradients, on which DistDL failed, are not written to. If a gradient is
used elsewhere too, which would see it change, `install(in_place_halos=False)` makes new tensors.

- `install`: puts this back-end in the place of DistDL's.
- `partition`: partitions made of communicators; `communicator`: those communicators.
- `functional`: the primitives; `structures`: what layers ask about other workers' tensors.
- `buffer`: buffers that layers request, and that plans do not need.
"""

from __future__ import annotations

from types import SimpleNamespace

from partita.torch.backend import functional
from partita.torch.backend.buffer import (
    BufferManager,
    ExpandableBuffer,
    halo_buffers,
    repartition_buffers,
)
from partita.torch.backend.install import install
from partita.torch.backend.partition import MPICartesianPartition, MPIPartition
from partita.torch.backend.structures import (
    assemble_global_tensor_structure,
    broadcast_tensor_structure,
    compute_subtensor_shapes_unbalanced,
)

Partition = MPIPartition
CartesianPartition = MPICartesianPartition

buffer = SimpleNamespace(MPIBufferManager=BufferManager, MPIExpandableBuffer=ExpandableBuffer)
partition = SimpleNamespace(MPIPartition=MPIPartition, MPICartesianPartition=MPICartesianPartition)
halo_exchange = SimpleNamespace(allocate_halo_exchange_buffers=halo_buffers)
repartition = SimpleNamespace(allocate_repartition_buffers=repartition_buffers)
tensor_comm = SimpleNamespace(
    assemble_global_tensor_structure=assemble_global_tensor_structure,
    broadcast_tensor_structure=broadcast_tensor_structure,
)
tensor_decomposition = SimpleNamespace(
    compute_subtensor_shapes_unbalanced=compute_subtensor_shapes_unbalanced
)

__all__ = [
    "BufferManager",
    "CartesianPartition",
    "ExpandableBuffer",
    "Partition",
    "assemble_global_tensor_structure",
    "broadcast_tensor_structure",
    "compute_subtensor_shapes_unbalanced",
    "functional",
    "install",
]
