"""Sparse tensors in slices, from Python and from the command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import partita as pt
from partita.sparse import DistTensor

CSR = "#sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>"
WHOLE = f'tensor<6x4xf64, #partition.encoding<{CSR}, ["distributed", "replicated"]>>'
SLICE = f"tensor<?x4xf64, {CSR}>"
# Every rank takes the slice of number %which.
TAKE = f"""
func.func @take(%a: {WHOLE}, %which: index) -> {SLICE} {{
  %c0 = arith.constant 0 : index
  %me = "distruntime.team_member"() {{team = 1 : i64}} : () -> index
  %g:2 = "partition.get_grid_size"() : () -> (index, index)
  %s = "partition.get_slice"(%a, %me, %c0, %g#0, %g#1, %which, %c0)
    {{operandSegmentSizes = array<i32: 1, 2, 2, 2>}}
    : ({WHOLE}, index, index, index, index, index, index) -> {SLICE}
  return %s : {SLICE}
}}
"""
DENSE = np.zeros((6, 4))
DENSE[[0, 1, 3, 3, 5], [2, 0, 1, 3, 2]] = [1.5, 2.5, 3.5, 4.5, 5.5]


def csr(dense: np.ndarray[Any, Any]) -> dict[str, Any]:
    rows, columns = np.nonzero(dense)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(dense)))])
    data = dense[rows, columns]
    return {"shape": dense.shape, "indptr": indptr, "indices": columns, "data": data}


def same(found: Any, wanted: np.ndarray[Any, Any]) -> bool:
    other = csr(wanted)
    lists = all(np.array_equal(found[name], other[name]) for name in ("indptr", "indices", "data"))
    return lists and tuple(found["shape"]) == wanted.shape


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
def test_the_example_turns_a_matrix_by_the_rows_of_a_rank(tmp_path: Path, n_ranks: int) -> None:
    sp.save_npz(tmp_path / "matrix.npz", sp.csr_array(DENSE))
    example = Path(__file__).parents[2] / "examples" / "slices.mlir"
    command = [sys.executable, "-m", "partita", "run", "-n", str(n_ranks), str(example), "--json"]
    command += ["--function", "turned", "--arg", f"0={tmp_path / 'matrix.npz'}"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    (found,) = json.loads(done.stdout)["results"]
    assert same(found, np.roll(DENSE, -6 // n_ranks, axis=0))


@pytest.mark.parametrize("n_ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", ["csr", "coo", "dense"])
def test_every_rank_takes_a_slice(n_ranks: int, kind: str) -> None:
    rows, columns = np.nonzero(DENSE)
    coo = {"shape": DENSE.shape, "coords": [rows, columns], "data": DENSE[rows, columns]}
    given = {"csr": csr(DENSE), "coo": coo, "dense": DENSE}[kind]

    def body(team: pt.Team) -> Any:
        module = pt.ir.parse(TAKE)
        found = module.run("take", given, team.size - 1, team=team)
        assert module.last_run is not None
        return found, module.last_run["bytes"]

    first, _ = pt.dist.default_partition(n_ranks, n_ranks - 1, (6, 4))[0]
    for found, n_bytes in pt.spmd(body, n_ranks):
        assert found["format"] == "csr"
        assert same(found, DENSE[first:])
        assert (n_bytes > 0) == (n_ranks > 1)


def test_what_is_no_tensor_is_refused() -> None:
    module = pt.ir.parse(TAKE)
    wrong: list[tuple[Any, str]] = [
        ({"data": [1.0]}, "without shape"),
        ({"shape": (6, 4), "data": [1.0], "indptr": [0, 1]}, "without indices"),
        (csr(DENSE) | {"indices": [0, 1, 2, 3, 4]}, "coordinate 4 in dimension 1"),
        (csr(DENSE) | {"indices": [0.5] * 5}, "give integers"),
        (csr(DENSE) | {"format": "bsr"}, "use coo, csr or csc"),
        (csr(DENSE.astype("c8")), "complex64 where float64 is wanted"),
        (csr(DENSE[:5]), "has the shape"),
        (3, "where a sparse tensor is wanted"),
    ]
    for given, said in wrong:
        with pytest.raises(pt.ProgramError, match=said):
            module.run("take", given, 0)


def ran(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "partita", "run", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_the_command_reads_npz_and_writes_json(tmp_path: Path, save: Any) -> None:
    program, tensor = tmp_path / "take.mlir", tmp_path / "a.npz"
    program.write_text(TAKE)
    save(tensor, format=np.array("csr", "S"), **csr(DENSE))
    words = ["-n", "2", str(program), "--arg", f"0={tensor}", "--arg", "1=1", "--json"]
    found = json.loads(ran(*words).stdout)
    (result,) = found["results"]
    assert result == {
        "shape": [3, 4],
        "dtype": "float64",
        "format": "csr",
        "indptr": [0, 2, 2, 3],
        "indices": [1, 3, 2],
        "data": [3.5, 4.5, 5.5],
    }
    assert found["exchanges"] == 1
    shown = ran(*words[:-1]).stdout
    assert shown.startswith("csr of [3, 4], 3 elements of float64\nindptr  [0, 2, 2, 3]\n")


def test_arguments_that_differ_between_ranks_are_told_as_such() -> None:
    def body(team: pt.Team) -> None:
        pt.ir.parse(TAKE).run("take", csr(DENSE), 0 if team.rank == 0 else 1, team=team)

    with pytest.raises(pt.PartitaError, match="rank 0 was called with argument 1 = 0, rank 1 with"):
        pt.spmd(body, 2)


def test_scipys_tensors_of_three_dimensions_are_arguments() -> None:
    coo = (
        "#sparse_tensor.encoding<{ map = (d0, d1, d2) -> (d0 : compressed(nonunique), "
        "d1 : singleton(nonunique), d2 : singleton) }>"
    )
    kinds = '["distributed", "replicated", "replicated"]'
    whole = f"tensor<2x3x4xf64, #partition.encoding<{coo}, {kinds}>>"
    text = f"func.func @f(%a: {whole}) -> {whole} {{\n  return %a : {whole}\n}}"
    places = (np.array([0, 1, 1]), np.array([2, 0, 1]), np.array([3, 0, 2]))
    given = sp.coo_array((np.array([1.5, 2.5, 3.5]), places), shape=(2, 3, 4))
    found = pt.ir.parse(text).run("f", given)
    assert tuple(found["shape"]) == (2, 3, 4)
    np.testing.assert_array_equal(found["coords"], places)
    np.testing.assert_array_equal(found["data"], given.data)


@pytest.mark.parametrize("n_ranks", [1, 2])
def test_distributed_tensors_are_gathered_whatever_their_layout(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for layout in ("block, *", "*, block", "cyclic, *"):
            t = DistTensor.from_dense(DENSE, layout=layout)
            found = pt.ir.parse(TAKE).run("take", t, team.size - 1, team=team)
            assert same(found, DENSE[6 - 6 // team.size :])

    pt.spmd(body, n_ranks)


def test_elements_of_one_place_are_added() -> None:
    twice = {"shape": (6, 4), "coords": [[5, 5, 0], [2, 2, 1]], "data": [1.5, 2.0, 4.0]}
    dense = np.zeros((6, 4))
    dense[5, 2], dense[0, 1] = 3.5, 4.0
    for which in range(2):

        def body(team: pt.Team, which: int = which) -> None:
            found = pt.ir.parse(TAKE).run("take", twice, which, team=team)
            assert same(found, dense[3 * which : 3 * which + 3])

        pt.spmd(body, 2)


def test_a_rank_at_a_wrong_place_is_told() -> None:
    wrong = TAKE.replace("(%a, %me, %c0", "(%a, %c0, %c0")

    def body(team: pt.Team) -> None:
        with pytest.raises(pt.PartitaError, match=r"rank 1.*\[0, 0\]"):
            pt.ir.parse(wrong).run("take", DENSE, 0, team=team)

    pt.spmd(body, 2)


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
def test_ranks_that_bring_one_slice_bring_the_same(n_ranks: int) -> None:
    """All bring the slice that they hold, or slice 0, as the content of slice 0."""
    put = (
        TAKE.replace("@take", "@put")
        .replace(f") -> {SLICE} {{", f") -> {WHOLE} {{")
        .replace(
            f"return %s : {SLICE}",
            f"""%b = "partition.set_slice"(%a, %s, %me, %c0, %g#0, %g#1, %c0, %c0)
            {{operandSegmentSizes = array<i32: 1, 1, 2, 2, 2>}}
            : ({WHOLE}, {SLICE}, index, index, index, index, index, index) -> {WHOLE}
          return %b : {WHOLE}""",
        )
    )

    def body(team: pt.Team) -> None:
        found = pt.ir.parse(put).run("put", DENSE, 0, team=team)
        if team.rank == 0:
            assert same(found, DENSE)
        own = put.replace("%g#0, %g#1, %which, %c0)", "%g#0, %g#1, %me, %c0)")
        if team.size > 1:
            with pytest.raises(pt.PartitaError, match="ranks 0 and 1 bring different content"):
                pt.ir.parse(own).run("put", DENSE, 0, team=team)

    pt.spmd(body, n_ranks)


@pytest.mark.parametrize(
    ("dims", "levels"),
    [
        ("d0, d1", "d0 : dense, d1 : compressed"),
        ("d0, d1", "d1 : dense, d0 : compressed"),
        ("d0", "d0 : compressed"),
        ("d0, d1", "d0 : compressed(nonunique), d1 : singleton"),
        ("d0, d1", "d0 : compressed, d1 : compressed"),
        ("d0, d1", "d0 : compressed, d1 : dense"),
        ("d0, d1", "d0 : dense, d1 : compressed), explicitVal = 1.0 : f64"),
        ("d0, d1", "d0 : dense, d1 : compressed), posWidth = 32, crdWidth = 8"),
        ("d0, d1", "d0 : dense, d1 : compressed), posWidth = 64, crdWidth = 32"),
    ],
)
def test_encodings_run_if_they_are_csr_csc_or_coo(dims: str, levels: str) -> None:
    """Those of doubly compressed matrices, such as DCSR, do not, nor what slices do not follow."""
    sides, dense = ("6", DENSE[:, 2]) if dims == "d0" else ("6x4", DENSE)
    kinds = ", ".join(['"replicated"'] * dense.ndim)
    levels += "" if "= " in levels else ")"
    encoding = f"#sparse_tensor.encoding<{{ map = ({dims}) -> ({levels} }}>"
    whole = f"tensor<{sides}xf64, #partition.encoding<{encoding}, [{kinds}]>>"
    module = pt.ir.parse(f"func.func @f(%a: {whole}) -> {whole} {{\n  return %a : {whole}\n}}")
    if levels.startswith("d0 : compressed, ") or "explicit" in levels or "= 8" in levels:
        with pytest.raises(pt.ProgramError, match="none that can be run"):
            module.run("f", dense)
    else:
        assert module.run("f", dense)["data"].sum() == dense.sum()


@pytest.mark.parametrize("passes", ["default", None])
def test_a_wrong_slice_is_an_error_even_if_nobody_uses_it(passes: str | None) -> None:
    unused = TAKE.replace(f"-> {SLICE} {{", "-> index {").replace(
        f"return %s : {SLICE}", "return %c0 : index"
    )
    module = pt.ir.parse(unused)
    module = module if passes is None else module.apply(passes)
    assert module.run("take", DENSE, 0) == 0
    with pytest.raises(pt.ProgramError, match="no slice"):
        module.run("take", DENSE, 9)


@pytest.mark.parametrize("dtype", ["f4", "i4", "?"])
def test_elements_are_cast_where_nothing_is_lost(dtype: str) -> None:
    module, given = pt.ir.parse(TAKE), DENSE.astype(dtype)
    assert same(module.run("take", csr(given), 0), given.astype("f8"))
    with pytest.raises(pt.ProgramError, match="cannot hold"):
        module.run("take", csr(DENSE.astype("i8")) | {"data": np.full(5, 2**53 + 1)}, 0)


def test_slices_that_only_some_ranks_ask_for_are_told() -> None:
    """All ranks execute `get_slice` together, each with a slice of its own."""
    begin, end = TAKE.index("  %s ="), TAKE.index("  return")
    lines = TAKE[begin:end].replace("%s =", "%t =")
    some = f"  %is = arith.cmpi eq, %me, %c0 : index\n  scf.if %is {{\n{lines}  }}\n"

    def body(team: pt.Team) -> None:
        with pytest.raises(pt.MismatchError):
            pt.ir.parse(TAKE[:begin] + some + TAKE[begin:]).run("take", DENSE, 0, team=team)

    pt.spmd(body, 2)
