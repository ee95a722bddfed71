"""One rank of the benchmark of movements: partita, raw mpi4py and DistDL take turns.

Started by `distdl.py` under a launcher; the first rank prints the times as JSON.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from mpi4py import MPI

import partita as pt
import partita.torch as ptt
from partita import distdl as pd

COMM = MPI.COMM_WORLD
RANK, SIZE = COMM.rank, COMM.size
N_ELEMENTS = 16 * 1024 * 1024  # 64 MiB of float32
N_ROUNDS = int(os.environ.get("ROUNDS", "7"))

Method = Callable[[], object]


def in_turns(methods: dict[str, Method], n_calls: int) -> dict[str, list[float]]:
    """Seconds of one call on the slowest rank per round, after two rounds that do not count."""
    seconds: dict[str, list[float]] = {name: [] for name in methods}
    for number in range(N_ROUNDS + 2):
        for name, method in methods.items():
            COMM.Barrier()
            start = time.perf_counter()
            for _ in range(n_calls):
                method()
            taken = COMM.allreduce((time.perf_counter() - start) / n_calls, MPI.MAX)
            if number > 1:
                seconds[name].append(taken)
    return seconds


def tensors(module: torch.nn.Module, x: torch.Tensor, dy: torch.Tensor) -> tuple[Method, Method]:
    """Forward and adjoint of a module."""
    x = x.detach().requires_grad_()
    y = module(x)

    def forward() -> object:
        return module(x)

    def adjoint() -> object:
        x.grad = None
        return torch.autograd.grad(y, x, dy, retain_graph=True)

    return forward, adjoint


class Clone(torch.autograd.Function):
    """A copy of a leaf; its backward costs nothing."""

    @staticmethod
    def forward(ctx: Any, input: torch.Tensor) -> torch.Tensor:
        """A copy."""
        return input.clone()

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        """The gradient itself."""
        return grads[0]


def in_place(module: torch.nn.Module, buffer: torch.Tensor) -> tuple[Method, Method]:
    """Forward and adjoint of a module that writes into its input and into the gradient."""
    x = torch.zeros(buffer.shape, requires_grad=True)
    y = module(Clone.apply(x))

    def forward() -> object:
        with torch.no_grad():
            return module(buffer)

    return forward, lambda: torch.autograd.grad(y, x, buffer, retain_graph=True)


class Nothing(torch.nn.Module):
    """A module in place that does nothing, forward or backward: what autograd itself costs."""

    class Function(torch.autograd.Function):
        """The input, and the gradient, as they are."""

        @staticmethod
        def forward(ctx: Any, input: torch.Tensor) -> torch.Tensor:
            """The input."""
            ctx.mark_dirty(input)
            return input

        @staticmethod
        def backward(ctx: Any, *grads: torch.Tensor) -> Any:
            """The gradient."""
            return grads[0]

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """The input."""
        return self.Function.apply(input)


def partitions(P: Any) -> dict[str, Any]:
    """The partitions of all operations, for partita's class or DistDL's."""
    first = P.create_partition_inclusive([0])
    return {
        "all": P.create_cartesian_topology_partition([SIZE]),
        "first": first.create_cartesian_topology_partition([1]),
        "rows": P.create_cartesian_topology_partition([SIZE, 1]),
        "columns": P.create_cartesian_topology_partition([1, SIZE]),
    }


def room(team: pt.Team, shape: tuple[int, ...], value: float | None = None) -> np.ndarray:
    """Memory that neighbours can reach, touched."""
    array = team.empty(shape, "float32")
    array[...] = RANK + 1 if value is None else value
    return array


class Bench:
    """One operation: arrays for it, and its methods by name and direction."""

    def __init__(self, name: str, n_calls: int = 1) -> None:
        self.name, self.n_calls = name, n_calls
        self.forward: dict[str, Method] = {}
        self.adjoint: dict[str, Method] = {}

    def arrays(self, primitive: Any, x: Any, dy: Any, y: Any, dx: Any) -> None:
        """On arrays, into arrays that are there."""
        primitive(x, out=y)
        self.forward["partita"] = lambda: primitive(x, out=y)
        self.adjoint["partita"] = lambda: primitive.adjoint(dy, out=dx)

    def raw(self, forward: Method, adjoint: Method) -> None:
        """The same by hand with mpi4py."""
        self.forward["mpi4py"], self.adjoint["mpi4py"] = forward, adjoint

    def modules(self, label: str, module: Any, x: Any, dy: Any = None) -> None:
        """A torch module; without a cotangent one that works in place."""
        both = in_place(module, x) if dy is None else tensors(module, x, dy)
        self.forward[label], self.adjoint[label] = both

    def times(self) -> dict[str, Any]:
        """Both directions."""
        return {
            "name": self.name,
            "forward": in_turns(self.forward, self.n_calls),
            "adjoint": in_turns(self.adjoint, self.n_calls),
        }


def tensor(array: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(array)


def rooted(team: pt.Team, ours: Any, theirs: Any, nn: Any) -> list[dict[str, Any]]:
    """Broadcast from one rank to all, and the sum from all to one."""
    one, whole = (N_ELEMENTS,), room(team, (N_ELEMENTS,))
    none = np.zeros(0, "float32")
    x = whole if RANK == 0 else none
    y, dx = room(team, one), room(team, one) if RANK == 0 else none
    copy = Bench(f"broadcast 1 to {SIZE}")
    copy.arrays(pd.Broadcast(ours["first"], ours["all"]), x, whole, y, dx)
    copy.raw(
        lambda: COMM.Bcast(y, 0), lambda: COMM.Reduce(whole, dx if RANK == 0 else None, MPI.SUM, 0)
    )
    args = (tensor(x), tensor(whole))
    copy.modules(
        "partita.torch", ptt.Broadcast(ours["first"], ours["all"], preserve_batch=False), *args
    )
    if nn is not None:
        made = nn.Broadcast(theirs["first"], theirs["all"], preserve_batch=False)
        copy.modules("DistDL", made, *args)
    found = [copy.times()]
    total = Bench(f"sum-reduce {SIZE} to 1")
    total.arrays(pd.SumReduce(ours["all"], ours["first"]), whole, x, dx, y)
    total.raw(copy.adjoint["mpi4py"], copy.forward["mpi4py"])
    made = ptt.SumReduce(ours["all"], ours["first"], preserve_batch=False)
    total.modules("partita.torch", made, tensor(whole), tensor(x))
    if nn is not None:
        made = nn.SumReduce(theirs["all"], theirs["first"], preserve_batch=False)
        total.modules("DistDL", made, tensor(whole), tensor(x))
    return [*found, total.times()]


def all_sum(team: pt.Team, ours: Any, theirs: Any, nn: Any) -> list[dict[str, Any]]:
    """The sum on every rank."""
    x, y = room(team, (N_ELEMENTS,)), room(team, (N_ELEMENTS,))
    bench = Bench(f"all-sum-reduce of {SIZE}")
    bench.arrays(pd.AllSumReduce(ours["all"], [0]), x, x, y, y)
    reduce = lambda: COMM.Allreduce(x, y, MPI.SUM)  # noqa: E731
    bench.raw(reduce, reduce)
    bench.modules("partita.torch", ptt.AllSumReduce(ours["all"], [0]), tensor(x), tensor(x))
    if nn is not None:
        bench.modules("DistDL", nn.AllSumReduce(theirs["all"], [0]), tensor(x), tensor(x))
    return [bench.times()]


def repartition(team: pt.Team, ours: Any, theirs: Any, nn: Any) -> list[dict[str, Any]]:
    """Rows to columns."""
    edge, n = 4096, 4096 // SIZE
    x, y = room(team, (n, edge * SIZE)), room(team, (n * SIZE, edge))
    packed, landed = room(team, (SIZE, n, edge)), room(team, (SIZE, n, edge))

    def forward() -> None:
        np.copyto(packed, x.reshape(n, SIZE, edge).transpose(1, 0, 2))
        COMM.Alltoall(packed, y)

    def adjoint() -> None:
        COMM.Alltoall(y, landed)
        np.copyto(x.reshape(n, SIZE, edge), landed.transpose(1, 0, 2))

    bench = Bench(f"repartition ({SIZE},1) to (1,{SIZE})")
    back = room(team, x.shape)
    bench.arrays(pd.Repartition(ours["rows"], ours["columns"]), x, y, room(team, y.shape), back)
    bench.raw(forward, adjoint)
    made = ptt.Repartition(ours["rows"], ours["columns"])
    bench.modules("partita.torch", made, tensor(x), tensor(y))
    if nn is not None:
        made = nn.Repartition(theirs["rows"], theirs["columns"])
        bench.modules("DistDL", made, tensor(x), tensor(y))
    return [bench.times()]


def gathers(team: pt.Team, ours: Any, theirs: Any, nn: Any) -> list[dict[str, Any]]:
    """Blocks to everyone, and sums divided; DistDL's fork has them, DistDL has not."""
    whole, part = room(team, (N_ELEMENTS,)), room(team, (N_ELEMENTS // SIZE,))
    out, small = room(team, whole.shape), room(team, part.shape)
    join = lambda: COMM.Allgather(part, out)  # noqa: E731
    divide = lambda: COMM.Reduce_scatter_block(whole, small, MPI.SUM)  # noqa: E731
    gather = Bench(f"all-gather of {SIZE}")
    gather.arrays(pd.AllGather(ours["all"], 0), part, whole, out, small)
    gather.raw(join, divide)
    gather.modules("partita.torch", ptt.AllGather(ours["all"], 0), tensor(part), tensor(whole))
    scatter = Bench(f"reduce-scatter of {SIZE}")
    scatter.arrays(pd.ReduceScatter(ours["all"], 0), whole, part, small, out)
    scatter.raw(divide, join)
    scatter.modules("partita.torch", ptt.ReduceScatter(ours["all"], 0), tensor(whole), tensor(part))
    return [gather.times(), scatter.times()]


class Strips:
    """Rows of a padded buffer by hand, with mpi4py."""

    def __init__(self, buffer: np.ndarray, width: int) -> None:
        self.buffer, self.width = buffer, width
        self.left = RANK - 1 if RANK else MPI.PROC_NULL
        self.right = RANK + 1 if RANK + 1 < SIZE else MPI.PROC_NULL
        start, stop = (width if RANK else 0), (len(buffer) - (width if RANK + 1 < SIZE else 0))
        self.inner = (slice(start, start + width), slice(stop - width, stop))
        self.outer = (slice(0, start), slice(stop, len(buffer)))
        self.sums = np.zeros((width, buffer.shape[1]), buffer.dtype)

    def forward(self) -> None:
        """Fill the halos."""
        b = self.buffer
        COMM.Sendrecv(b[self.inner[0]], self.left, 0, b[self.outer[1]], self.right, 0)
        COMM.Sendrecv(b[self.inner[1]], self.right, 1, b[self.outer[0]], self.left, 1)

    def adjoint(self) -> None:
        """Add the halos to their owners' rows."""
        b = self.buffer
        for inner, outer, to, source in (
            (self.inner[1], self.outer[0], self.left, self.right),
            (self.inner[0], self.outer[1], self.right, self.left),
        ):
            COMM.Sendrecv(b[outer], to, 0, self.sums, source, 0)
            if source != MPI.PROC_NULL:
                b[inner] += self.sums
            b[outer] = 0


def halos(team: pt.Team, ours: Any, theirs: Any, nn: Any) -> list[dict[str, Any]]:
    """Halos of rows of a 4096 x 4096 block in the caller's own buffer, beside the engine alone."""
    found = []
    for width in (1, 8):
        shape = (4096 * SIZE, 4096)
        layout = pt.Layout(shape, f"block+halo({width},{width}), * @ {SIZE}x1")
        buffer = room(team, layout.local_shape(RANK))
        exchange = pd.HaloExchange(ours["rows"], [width, 0], shape=shape)
        array = pt.from_local(buffer, layout, team)
        strips = Strips(buffer, width)
        out = room(team, buffer.shape)
        exchange(buffer, out=out)
        bench = Bench(f"halo of {width}, ({SIZE},1)", n_calls=40)
        bench.forward = {
            "partita": lambda: exchange.fill(buffer),  # noqa: B023
            "engine": array.exchange_halo,
            "mpi4py": strips.forward,
        }
        bench.adjoint = {
            "partita": lambda: exchange.adjoint_in_place(buffer),  # noqa: B023
            "mpi4py": strips.adjoint,
        }
        x = tensor(buffer)
        made = ptt.HaloExchange(ours["rows"], [width, 0], shape=shape, in_place=True)
        bench.modules("partita.torch", made, x)
        bench.adjoint["autograd"] = in_place(Nothing(), x)[1]
        if nn is not None:
            widths = np.array([[width * (RANK > 0), width * (RANK + 1 < SIZE)], [0, 0]])
            bench.modules("DistDL", nn.HaloExchange(theirs["rows"], widths, widths, widths), x)
        found.append(bench.times())
    return found


def main() -> None:
    torch.set_num_threads(1)
    team = pt.world()
    ours = partitions(pd.Partition(team))
    nn = theirs = None
    if len(sys.argv) > 1:
        sys.path.insert(0, sys.argv[1])
        import distdl.nn
        from distdl.backends.mpi.partition import MPIPartition

        nn, theirs = distdl.nn, partitions(MPIPartition(COMM))
    results = []
    groups = (rooted, all_sum, repartition, gathers, halos)
    for group in [one for one in groups if os.environ.get("ONLY", "") in one.__name__]:
        results += group(team, ours, theirs, nn)
    if RANK == 0:
        print(json.dumps(results))


main()
