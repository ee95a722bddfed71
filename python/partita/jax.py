"""The primitives for JAX: functions whose custom VJP is the primitive's adjoint.

Sparse products likewise: `spmm`, `spmv`, `sddmm`, on this rank's rows of the operands, as in
`partita.torch.sparse`.

>>> import jax, partita as pt
>>> from partita.distdl import AllSumReduce, Partition
>>> def job(team):
...     total = function(AllSumReduce(Partition(team), [0]))
...     value, back = jax.vjp(total, jax.numpy.ones(2) * (1 + team.rank))
...     return value.tolist(), back(value)[0].tolist()
>>> pt.spmd(job, ranks=2)
[([3.0, 3.0], [6.0, 6.0]), ([3.0, 3.0], [6.0, 6.0])]

Arrays must be on the CPU of one host. If the ranks are processes, the functions can be jitted; all
ranks must then trace and run the same program. Ranks that are threads share one JAX, which may wait
for one rank's jitted code before it starts another's: call the functions eagerly there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from partita._errors import LayoutError
from partita._missing import without_extra
from partita._team.together import together_telling
from partita.distdl import Movement, Primitive
from partita.distdl.agree import Structure
from partita.sparse import DistTensor
from partita.sparse.operands import Operands, check_alike, misfit, operands_of

try:
    import jax
    from jax.experimental import io_callback
except ModuleNotFoundError as error:
    raise without_extra(error, "partita.jax", "jax") from None

Function = Callable[[Any], Any]


def _moved(movement: Movement, x: Any, shape: tuple[int, ...]) -> Any:
    """The movement of a value, at once or when the traced program runs."""
    if not isinstance(x, jax.core.Tracer):
        return jax.numpy.asarray(movement.forward(np.asarray(x)))
    wanted = jax.ShapeDtypeStruct(shape, np.dtype(movement.plans[0].dtype))
    host = lambda value: movement.forward(np.asarray(value))  # noqa: E731
    return io_callback(host, wanted, x, ordered=True)


def _shape_after(movement: Movement, given: tuple[int, ...]) -> tuple[int, ...]:
    target, rank = movement.plans[-1].target, movement.team.rank
    if rank not in target.ranks:
        return (*given[:1], 0) if movement.preserve_batch else (0,)
    shape = target.local_shape(rank)
    return shape[1:] if movement.is_stacked else shape


def _structure(x: Any) -> Structure:
    """What other workers must know of an array; gradients may always be asked for."""
    try:
        return Structure(tuple(x.shape), np.dtype(x.dtype).name, flag=True)
    except TypeError:
        message = f"an array of {x.dtype}; use numbers that NumPy has"
        raise LayoutError(message, "dtype-unknown") from None


def function(primitive: Primitive) -> Function:
    """Turn a primitive into a differentiable function of JAX arrays. Collective."""
    if not isinstance(primitive, Primitive):
        message = f"a function of {primitive!r}; use a primitive of partita.distdl"
        raise LayoutError(message, "primitive-type")

    def bound(x: Any) -> Movement:
        found = primitive.bind(_structure(x))
        assert found is not None
        return found

    @jax.custom_vjp
    def moved(x: Any) -> Any:
        return forward(x)[0]

    def forward(x: Any) -> tuple[Any, Any]:
        if primitive.team is None:
            return x, None
        movement = bound(x)
        return _moved(movement, x, _shape_after(movement, x.shape)), _Kept(movement, x.shape)

    def backward(kept: _Kept | None, cotangent: Any) -> tuple[Any]:
        if kept is None:
            return (cotangent,)
        back = kept.movement.reversed()
        found = _moved(back, cotangent, _shape_after(back, cotangent.shape))
        if found.size == np.prod(kept.shape):
            return (found.reshape(kept.shape),)
        return (jax.numpy.zeros(kept.shape, back.plans[0].dtype),)

    moved.defvjp(forward, backward)

    def told(wrong: LayoutError) -> LayoutError:
        """A worker that stumbles over its own array tells the others."""
        agreement = primitive.agreement
        return wrong if agreement is None else agreement.team.told(wrong)

    def checked(x: Any) -> Any:
        if not isinstance(x, jax.Array | np.ndarray):
            message = f"a {type(x).__name__} as local array; use an array of JAX or NumPy"
            raise told(LayoutError(message, "local-type"))
        try:
            _structure(x)
        except LayoutError as wrong:
            raise told(wrong) from None
        return moved(x)

    return checked


@jax.tree_util.register_static
class _Kept:
    """What backward needs of forward; no array, so nothing is saved for it."""

    def __init__(self, movement: Movement, shape: tuple[int, ...]) -> None:
        self.movement, self.shape = movement, tuple(shape)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


def operand_rows(pattern: DistTensor, dim: int) -> int:
    """Return how many rows of an operand along a dimension of a pattern are this rank's."""
    return operands_of(pattern).n_rows(dim)


def operand_indices(pattern: DistTensor, dim: int) -> np.ndarray[Any, Any]:
    """Return which rows of an operand along a dimension are this rank's, in their order."""
    return operands_of(pattern).indices(dim)


def spmm(pattern: DistTensor, x: Any, values: Any = None) -> Any:
    """Return this rank's rows of `t @ x`, for a vector or a matrix. Collective.

    `values` are those of this rank's slice; without any, the pattern's own are taken.
    """
    operands = operands_of(pattern)
    given = jax.numpy.asarray(pattern._block.data) if values is None else values
    own = {"values": (given, operands.n_values), "x": (x, operands.n_rows(1))}
    _check_rows(operands, own)
    return _product(operands, 1, given, x)


spmv = spmm


def sddmm(pattern: DistTensor, x: Any, y: Any) -> Any:
    """Return this rank's values of `x @ y.T` where the pattern has entries. Collective."""
    operands = operands_of(pattern)
    _check_rows(operands, {"x": (x, operands.n_rows(0)), "y": (y, operands.n_rows(1))})
    return _sampled(operands, x, y)


def _check_rows(operands: Operands, own: dict[str, tuple[Any, int]]) -> None:
    """Refuse arrays that do not fit: each by its name, and how many rows or values it needs."""
    team, given = operands.pattern.team, [one for one, _ in own.values()]

    def look() -> tuple[None, list[int]]:
        _check_own(own)
        return None, list(given[-1].shape[1:])

    if any(isinstance(one, jax.core.Tracer) for one in given):
        # Ranks may trace while others still run what was traced before: they do not meet now.
        with team:
            look()
        return
    # A rank that stumbles over its own array is all ranks' error.
    check_alike(together_telling(team, look, "partita.jax")[1])


def _check_own(own: dict[str, tuple[Any, int]]) -> None:
    given = [one for one, _ in own.values()]
    for name, (one, n) in own.items():
        if not isinstance(one, jax.Array | np.ndarray):
            message = f"a {type(one).__name__} as local array; use an array of JAX or NumPy"
            raise LayoutError(message, "local-type")
        if (problem := misfit(name, one.shape, n)) is not None:
            raise LayoutError(problem, "operand-rows")
        if one.dtype != given[0].dtype or np.dtype(one.dtype).name not in FLOATING:
            types = " and ".join(str(other.dtype) for other in given)
            message = f"arrays of {types} in a sparse product; use one type of"
            raise LayoutError(f"{message} {', '.join(FLOATING)}", "dtype-unknown")


FLOATING = ("float32", "float64", "complex64", "complex128")


def _called(host: Callable[..., Any], shape: tuple[int, ...], *given: Any) -> Any:
    """A function of arrays in this process's memory, at once or when the traced program runs."""
    if not any(isinstance(one, jax.core.Tracer) for one in given):
        return jax.numpy.asarray(host(*(np.asarray(one) for one in given)))
    wanted = jax.ShapeDtypeStruct(shape, given[0].dtype)
    at_run = lambda *values: host(*(np.asarray(one) for one in values))  # noqa: E731
    return io_callback(at_run, wanted, *given, ordered=True)


@partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _product(operands: Operands, over: int, values: Any, x: Any) -> Any:
    host = lambda values, x: operands.product(values, x, over)  # noqa: E731
    return _called(host, (operands.n_rows(1 - over), *x.shape[1:]), values, x)


def _product_forward(operands: Operands, over: int, values: Any, x: Any) -> Any:
    return _product(operands, over, values, x), (values, x)


def _product_backward(operands: Operands, over: int, kept: Any, cotangent: Any) -> Any:
    values, x = kept
    pair = (cotangent, x) if over == 1 else (x, cotangent)
    return _sampled(operands, *pair), _product(operands, 1 - over, values, cotangent)


_product.defvjp(_product_forward, _product_backward)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _sampled(operands: Operands, x: Any, y: Any) -> Any:
    return _called(operands.sampled, (operands.n_values,), x, y)


def _sampled_forward(operands: Operands, x: Any, y: Any) -> Any:
    return _sampled(operands, x, y), (x, y)


def _sampled_backward(operands: Operands, kept: Any, cotangent: Any) -> Any:
    x, y = kept
    return _product(operands, 1, cotangent, y), _product(operands, 0, cotangent, x)


_sampled.defvjp(_sampled_forward, _sampled_backward)
