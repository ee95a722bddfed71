"""Matrix Market files that all ranks write, each its own bytes, as SciPy writes them."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._args import shown
from partita._functions.files import bytes_of
from partita._functions.files.beside import written_beside
from partita._functions.files.paths import path_of
from partita._team.together import together, together_telling
from partita.sparse.agreement import agreed
from partita.sparse.aligned import combined
from partita.sparse.elements import option_words
from partita.sparse.files.header import SYMMETRIES
from partita.sparse.optional import scipy_sparse
from partita.sparse.telling import telling
from partita.sparse.tensor import DistTensor

if TYPE_CHECKING:
    from pathlib import Path

# Smaller matrices are looked at, whether they are symmetric; so does SciPy.
_LOOKED_AT = 100


@telling
def mmwrite(
    target: Any,
    a: DistTensor,
    comment: str | None = None,
    field: str | None = None,
    precision: int | None = None,
    symmetry: str | None = "AUTO",
) -> None:
    """Write a matrix to a Matrix Market file, named `.mtx`; all ranks their lines. Collective.

    The file is the one that SciPy's function of this name writes. Of a symmetric matrix only the
    lower half is written; with symmetry None it is found out, with "AUTO" if the matrix is small.
    """
    path = path_of(target)
    path = path if path.name.endswith(".mtx") else path.with_name(path.name + ".mtx")

    _check_type(a)

    def look() -> tuple[None, dict[str, Any], None]:
        if a.ndim != 2:
            raise _unwritable(a, f" of shape {a.shape}")
        if symmetry not in (*SYMMETRIES, "AUTO", None):
            raise ValueError(f"symmetry {shown(symmetry)}; use one of {', '.join(SYMMETRIES)}")
        scipy_sparse("writing Matrix Market files")
        options = {"field": field, "precision": precision, "symmetry": symmetry}
        facts = {name: option_words(one) for name, one in options.items()}
        return None, {**facts, "comment": option_words(comment or "")}, None

    agreed(a.team, "sparse.mmwrite", look)
    # Lines stand in the order of the format; those of COO, which stays without pointers, by rows.
    by_columns = a.format == "csc"
    dist = ("replicated", "distributed") if by_columns else ("distributed", "replicated")
    lines = a.redistribute(dist)
    kind = symmetry
    if kind is None or (kind == "AUTO" and max(a.shape) < _LOOKED_AT):
        kind = found_symmetry(lines)
    kind = "general" if kind == "AUTO" else kind
    _write(path, lines, kind, comment or "", {"field": field, "precision": precision})


def _check_type(a: Any) -> None:
    if not isinstance(a, DistTensor):
        raise _unwritable(a)


def _unwritable(a: Any, shape: str = "") -> ValueError:
    message = f"a {type(a).__name__}{shape} to write; use a DistTensor of two dimensions"
    return ValueError(f"{message}, DistTensor.from_dense for dense arrays")


def _write(path: Path, a: DistTensor, kind: str, comment: str, how: dict[str, Any]) -> None:
    team = a.team

    def format_own() -> tuple[bytes, tuple[int, int, str]]:
        banner, body, n_entries = _formatted(a, kind, how)
        return body, (len(body), n_entries, banner)

    body, told = together_telling(team, format_own)
    # SciPy calls a matrix without entries real, whatever its type is.
    banner = next((words for _, n, words in told if n), told[0][2])
    words = [banner.replace("general", kind), *(f"%{one}" for one in comment.split("\n"))]
    sizes = f"{a.shape[0]} {a.shape[1]} {sum(n for _, n, _ in told)}"
    head = "\n".join([*words, sizes, ""]).encode()
    begin = len(head) + sum(n for n, _, _ in told[: team.rank])
    n_bytes = len(head) + sum(n for n, _, _ in told)

    def make(beside: Path) -> None:
        with beside.open("xb") as file:
            file.write(head)
            file.flush()
            bytes_of.reserve(file.fileno(), n_bytes)

    def write_own() -> None:
        own = os.open(beside, os.O_WRONLY)
        try:
            bytes_of.write(own, begin, np.frombuffer(body, np.uint8))
        finally:
            os.close(own)

    with written_beside(team, path, make) as beside:
        together(team, write_own)


def _formatted(a: DistTensor, kind: str, how: dict[str, Any]) -> tuple[str, bytes, int]:
    """The first line of the file, the lines of this rank's entries, and how many they are."""
    from scipy.io import mmwrite as scipys

    block = a._block.tidy()
    rows, columns = a._slices.globalized(a.slice_id, block.all_coords())
    values = block.data
    if kind != "general":
        kept = rows >= columns
        rows, columns, values = rows[kept], columns[kept], values[kept]
    stream = io.BytesIO()
    sp = scipy_sparse("writing Matrix Market files")
    own = sp.coo_array((values, (rows, columns)), shape=a.shape)
    scipys(stream, own, symmetry="general", **how)
    text = stream.getvalue()
    end = text.index(b"\n")
    banner = text[:end].decode()
    while text[end + 1 : end + 2] == b"%":
        end = text.index(b"\n", end + 1)
    # The line of sizes is the whole file's.
    end = text.index(b"\n", end + 1)
    return banner, text[end + 1 :], len(values)


def found_symmetry(a: DistTensor) -> str:
    """Return which of the symmetries a matrix has, as SciPy finds it. Collective."""
    if a.shape[0] != a.shape[1]:
        return "general"
    turned = a.T.redistribute(layout=a.layout, format=a.format)
    is_complex = a.dtype.kind == "c"

    def differs(other: DistTensor, operation: str) -> bool:
        mine, theirs = (one.astype("int8") if one.dtype == bool else one for one in (a, other))
        return combined(mine._block, theirs._block, operation).nnz > 0

    conjugate = turned.with_values(turned.values.conj()) if is_complex else turned
    own = (differs(turned, "subtract"), differs(turned, "add"), differs(conjugate, "subtract"))
    told = a.team.gather_inside("symmetries", own)
    fails = [any(one[at] for one in told) for at in range(3)]
    for kind, failed in zip(SYMMETRIES[1:], fails, strict=True):
        if not failed:
            return kind
    return "general"
