"""Sparse tensors over many ranks: slices, rows of other ranks, products, solvers.

What a tensor is, from the inside out:

- `kinds`: element types of values and coordinates. `optional`: libraries that few need.
- `sorting`: entries of any number of dimensions in order.
- `block`: one rank's entries in one of three formats. `outside`: those of other libraries.
- `slices`: who holds which slice, and where an element lies in it.
- `teams`: operands of teams that count the same ranks in another order.
- `base`: what every tensor has. `fixed`: what of it is not set. `telling`: errors of one rank that
  the others are told of.
- `tensor`: the class, put together of the rooms below.

How tensors are made and turned:

- `building`: of SciPy's matrices, blocks, triplets and dense arrays. `agreement`: what ranks must
  say alike. `cutting`: slices of a whole. `handing_out`: slices of what one rank has. `travel`:
  entries to their owners. `triplets`: entries in arrays of partita. `digest`: whether copies are
  the same.
- `forms`: transposed, converted, redistributed. `even_rows`: with as many entries on each rank.
  `collecting`: whole again.
- `slicing`: slices by their numbers. `bringing`: from their owners. `content`: new ones.

What is done with them:

- `products`: times dense and sparse. `multiplying`: dense ones; `matmul`: sparse ones; `sampling`:
  dense by dense where a pattern has entries; `operands`: all of these on each rank's own rows;
  `vectors`: tensors of one dimension; `folded`: of three and more.
- `lines`: a slice by rows or columns, counted as an operand lies. `axes`: who holds which rows of
  an operand. `exchange`: rows of operands that are fetched, and added back. `balance`: threads of
  ranks with unequal shares.
- `rows`: rows of other ranks. `wishes`: those that a rank asks for; `chosen`: what an index gives
  of a matrix, `columns`: of its columns, `tensor_parts`, `tensor_rows`: of other tensors. `keys`:
  an index for each dimension; `indices`: those that lie on many ranks. `asking`: who gives what
  to whom. `carrying`: sparse rows on their way; `reading`: rows read where they are; `access`:
  which of the two. `rowwise`: matrices of whole rows. `hollow`: rows of matrices most of whose
  rows are empty; `pointers`: formats that these cannot have. `replicas`: slices that several
  ranks hold.
- `arithmetic`: operators. `elements`, `aligned`: operands beside a tensor, element by element.
  `answers`: operands that it does not know. `room`: dense results that no memory holds.
- `unary`, `comparing`, `complex_order`: functions and comparisons. `diagonals`: diagonals and
  triangles.
- `reductions`, `extremes`, `reducing`: of all elements, of lines, and where lines end up.
  `first_zero`: the first element that is not stored.
- `generators`: tensors made in parallel. `laplacians`: of grids. `graphs`: random graphs.
- `stacking`: matrices beside and below each other. `functions`: methods by names of SciPy's
  functions. `dispatch`: NumPy's functions on tensors. `absent`: what SciPy's arrays have and
  tensors have not; `elsewhere`: names of SciPy's that are not here.
- `files`: Matrix Market and SciPy's `.npz`. `linalg`: solvers.
"""

from typing import NoReturn as _NoReturn

from partita.sparse import linalg
from partita.sparse.elsewhere import no_counterpart as _no_counterpart
from partita.sparse.files.archive import load_npz, save_npz
from partita.sparse.files.market import mminfo, mmread
from partita.sparse.files.market_out import mmwrite
from partita.sparse.functions import find, issparse, kron, tril, triu
from partita.sparse.generators import diags, eye, random_array
from partita.sparse.generators import diags as diags_array
from partita.sparse.generators import eye as eye_array
from partita.sparse.graphs import rmat
from partita.sparse.laplacians import laplacian
from partita.sparse.sampling import sddmm
from partita.sparse.stacking import block_array, block_diag, hstack, vstack
from partita.sparse.tensor import DistTensor

__all__ = [
    "DistTensor",
    "block_array",
    "block_diag",
    "diags",
    "diags_array",
    "eye",
    "eye_array",
    "find",
    "hstack",
    "issparse",
    "kron",
    "laplacian",
    "linalg",
    "load_npz",
    "mminfo",
    "mmread",
    "mmwrite",
    "random_array",
    "rmat",
    "save_npz",
    "sddmm",
    "tril",
    "triu",
    "vstack",
]


def __getattr__(name: str) -> _NoReturn:
    raise _no_counterpart("partita.sparse", name)
