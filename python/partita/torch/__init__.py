"""Data movement and layers for torch, differentiable, on tensors divided over workers.

- The primitives of `partita.distdl` as modules: `Broadcast`, `SumReduce`, `AllSumReduce`,
  `HaloExchange`, `Repartition`, `AllGather`, `ReduceScatter`.
- Layers: `DistributedConv1d` to `3d`, `DistributedMaxPool1d` to `3d`, `DistributedAvgPool1d` to
  `3d`, `DistributedLinear`, `DistributedBatchNorm`, the losses, and `DistributedStack`
  (with `pointwise`).
- Layers load the `state_dict` of serial layers; `serial_state_dict` returns one.
- `partita.torch.backend` makes DistDL itself run on partita.

Modules:

- `primitives`: the primitives as modules; `functions`: movements that autograd knows;
  `halo`: halo exchange in place; `memory`: tensors as arrays and back.
- `kernels`: what `convolution` and `pooling` share; `stack`: one exchange for several of them, with
  `pointwise` between; `linear`, `batchnorm`, `loss`, `clipping`.
- `parameters`: who keeps which; `state`: serial state in and out; `arguments`: what is refused.
- `sparse`: products with sparse matrices. `needed`: torch, which may not be there.
- `backend`: DistDL's own interface.

Gradients follow the inner product of `partita.distdl`: the plain sum over all workers' tensors.
Tensors must be on the CPU. They are shared without a copy; results are new tensors.
"""

from partita.torch import needed as needed  # torch is there, or its name is told
from partita.torch.batchnorm import DistributedBatchNorm
from partita.torch.clipping import clip_grad_norm_
from partita.torch.convolution import DistributedConv1d, DistributedConv2d, DistributedConv3d
from partita.torch.functions import MovementFunction, WindowFunction
from partita.torch.linear import DistributedLinear
from partita.torch.loss import (
    DistributedBCELoss,
    DistributedBCEWithLogitsLoss,
    DistributedCrossEntropyLoss,
    DistributedKLDivLoss,
    DistributedL1Loss,
    DistributedMSELoss,
    DistributedPoissonNLLLoss,
)
from partita.torch.pointwise import pointwise
from partita.torch.pooling import (
    DistributedAvgPool1d,
    DistributedAvgPool2d,
    DistributedAvgPool3d,
    DistributedMaxPool1d,
    DistributedMaxPool2d,
    DistributedMaxPool3d,
)
from partita.torch.primitives import (
    AllGather,
    AllSumReduce,
    Broadcast,
    DistributedTranspose,
    HaloExchange,
    Mover,
    ReduceScatter,
    Repartition,
    SumReduce,
)
from partita.torch.stack import DistributedStack
from partita.torch.state import serial_state_dict

__all__ = [
    "clip_grad_norm_",
    "AllGather",
    "AllSumReduce",
    "Broadcast",
    "DistributedAvgPool1d",
    "DistributedAvgPool2d",
    "DistributedAvgPool3d",
    "DistributedBCELoss",
    "DistributedBCEWithLogitsLoss",
    "DistributedBatchNorm",
    "DistributedConv1d",
    "DistributedConv2d",
    "DistributedConv3d",
    "DistributedCrossEntropyLoss",
    "DistributedKLDivLoss",
    "DistributedL1Loss",
    "DistributedLinear",
    "DistributedMSELoss",
    "DistributedMaxPool1d",
    "DistributedMaxPool2d",
    "DistributedMaxPool3d",
    "DistributedPoissonNLLLoss",
    "DistributedStack",
    "DistributedTranspose",
    "HaloExchange",
    "Mover",
    "MovementFunction",
    "ReduceScatter",
    "Repartition",
    "SumReduce",
    "WindowFunction",
    "pointwise",
    "serial_state_dict",
]
