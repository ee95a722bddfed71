"""Slices of sparse tensors go on into upstream's sparsification, and are multiplied by its code."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

MLIR_OPT, RUNNER = shutil.which("mlir-opt-19"), shutil.which("mlir-cpu-runner-19")
needs_mlir = pytest.mark.skipif(
    MLIR_OPT is None or RUNNER is None,
    reason="mlir-opt-19 (Debian package mlir-19-tools) is not here",
)

ENCODINGS = {
    "csr": "#sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>",
    "csc": "#sparse_tensor.encoding<{ map = (d0, d1) -> (d1 : dense, d0 : compressed) }>",
}
N_ROWS, N_COLUMNS, N_RANKS = 7, 5, 3


def taking(encoding: str) -> str:
    """A program of which every rank returns the slice of a number."""
    kinds = '["distributed", "replicated"]'
    whole = f"tensor<{N_ROWS}x{N_COLUMNS}xf64, #partition.encoding<{encoding}, {kinds}>>"
    part = f"tensor<?x{N_COLUMNS}xf64, {encoding}>"
    return f"""
func.func @take(%a: {whole}, %which: index) -> {part} {{
  %c0 = arith.constant 0 : index
  %me = "distruntime.team_member"() {{team = 1 : i64}} : () -> index
  %g:2 = "partition.get_grid_size"() : () -> (index, index)
  %s = "partition.get_slice"(%a, %me, %c0, %g#0, %g#1, %which, %c0)
    {{operandSegmentSizes = array<i32: 1, 2, 2, 2>}}
    : ({whole}, index, index, index, index, index, index) -> {part}
  return %s : {part}
}}
"""


def times(encoding: str, n_rows: int | str = "?") -> str:
    """Matrix times vector, as a loop of linalg over a sparse slice."""
    part = f"tensor<{n_rows}x{N_COLUMNS}xf64, {encoding}>"
    maps = ", ".join(f"affine_map<(i, j) -> ({one})>" for one in ("i, j", "j", "i"))
    vectors = f"%x: tensor<{N_COLUMNS}xf64>, %y: tensor<?xf64>"
    return f"""
func.func @times(%a: {part}, {vectors}) -> tensor<?xf64> {{
  %r = linalg.generic {{
    indexing_maps = [{maps}], iterator_types = ["parallel", "reduction"]}}
    ins(%a, %x : {part}, tensor<{N_COLUMNS}xf64>) outs(%y : tensor<?xf64>) {{
    ^bb0(%element: f64, %factor: f64, %sum: f64):
      %product = arith.mulf %element, %factor : f64
      %more = arith.addf %sum, %product : f64
      linalg.yield %more : f64
  }} -> tensor<?xf64>
  return %r : tensor<?xf64>
}}
"""


def run(words: list[str], text: str | None = None) -> str:
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def partita(*words: str, text: str | None = None) -> str:
    return run([sys.executable, "-m", "partita", *words], text)


@needs_mlir
@pytest.mark.parametrize("form", sorted(ENCODINGS))
def test_a_slice_that_is_taken_is_sparsified_with_what_uses_it(form: str) -> None:
    """The program with its calls of partita, and a loop over the slice, in one module."""
    encoding = ENCODINGS[form]
    module = partita("opt", "-", "--form", "builtin", text=taking(encoding)).rstrip()
    whole = module.split("func.func @take(%a: ")[1].split(", %which")[0]
    part = f"tensor<?x{N_COLUMNS}xf64, {encoding}>"
    vectors = f"tensor<{N_COLUMNS}xf64>, tensor<?xf64>"
    both = f"""
func.func @both(%a: {whole}, %which: index, %x: tensor<{N_COLUMNS}xf64>, %y: tensor<?xf64>)
    -> tensor<?xf64> {{
  %s = func.call @take(%a, %which) : ({whole}, index) -> {part}
  %r = func.call @times(%s, %x, %y) : ({part}, {vectors}) -> tensor<?xf64>
  return %r : tensor<?xf64>
}}
"""
    assert module.endswith("}")
    module = module[:-1] + times(encoding) + both + "}"
    assert MLIR_OPT is not None
    passes = ["--sparse-reinterpret-map", "--sparsification"]
    loops = run([MLIR_OPT, *passes, "-"], module)
    assert "linalg.generic {" not in loops
    assert "sparse_tensor.positions" in loops
    assert "scf.for" in loops
    assert "call @partita.partition.get_slice" in loops


@needs_mlir
@pytest.mark.parametrize("form", sorted(ENCODINGS))
def test_upstreams_code_multiplies_the_slice_that_partita_has_fetched(
    form: str, tmp_path: Path
) -> None:
    dense = np.zeros((N_ROWS, N_COLUMNS))
    dense[[0, 1, 1, 3, 5, 5, 6], [2, 0, 4, 1, 3, 0, 2]] = [1.5, 2, 3, -4, 5, 6, 7.25]
    np.save(tmp_path / "a.npy", dense)
    program = tmp_path / "take.mlir"
    program.write_text(taking(ENCODINGS[form]))
    factors = [1.0, 10.0, 100.0, 1000.0, 10000.0]
    found = []
    for which in range(N_RANKS):
        words = ["--function", "take", "--arg", f"0={tmp_path / 'a.npy'}", "--arg", f"1={which}"]
        said = json.loads(partita("run", "-n", str(N_RANKS), str(program), *words, "--json"))
        found.append(multiplied(said["results"][0], form, factors))
    rows = [(N_ROWS + rank) // N_RANKS for rank in range(N_RANKS)]
    cuts = np.cumsum([0, *rows])
    wanted = [(dense[a:b] @ factors).sum() for a, b in pairwise(cuts)]
    assert found == wanted


def multiplied(part: dict[str, object], form: str, factors: list[float]) -> float:
    """The sum of a slice times a vector, computed by code that mlir-opt has made."""
    shape = part["shape"]
    assert isinstance(shape, list)
    encoding = ENCODINGS[form]

    def constant(name: str, values: object, kind: str) -> str:
        numbers = np.asarray(values).ravel().tolist()
        length = len(numbers)
        return f"  %{name} = arith.constant dense<{numbers}> : tensor<{length}x{kind}>\n"

    lists = {"p": (part["indptr"], "index"), "c": (part["indices"], "index")}
    lists |= {"v": (part["data"], "f64"), "x": (factors, "f64")}
    sizes = {name: len(np.ravel(np.asarray(one[0]))) for name, one in lists.items()}
    kinds = {name: f"tensor<{sizes[name]}x{one[1]}>" for name, one in lists.items()}
    fixed = f"tensor<{shape[0]}x{shape[1]}xf64, {encoding}>"
    main = "func.func @main() -> i64 attributes {llvm.emit_c_interface} {\n"
    main += "".join(constant(name, one[0], one[1]) for name, one in lists.items())
    main += f"""
  %a = sparse_tensor.assemble (%p, %c), %v
    : ({kinds["p"]}, {kinds["c"]}), {kinds["v"]} to {fixed}
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant {shape[0]} : index
  %empty = tensor.empty(%n) : tensor<?xf64>
  %y = linalg.fill ins(%zero : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
  %r = func.call @times(%a, %x, %y) : ({fixed}, {kinds["x"]}, tensor<?xf64>) -> tensor<?xf64>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%so_far = %zero) -> (f64) {{
    %element = tensor.extract %r[%i] : tensor<?xf64>
    %more = arith.addf %so_far, %element : f64
    scf.yield %more : f64
  }}
  %four = arith.constant 4.0 : f64
  %quarters = arith.mulf %sum, %four : f64
  %whole = arith.fptosi %quarters : f64 to i64
  return %whole : i64
}}
"""
    assert MLIR_OPT is not None
    assert RUNNER is not None
    lowered = run(
        [MLIR_OPT, "--sparsifier=enable-runtime-library=false", "-"],
        times(encoding, shape[0]) + main,
    )
    # The runner prints whole numbers only: the elements are quarters.
    return int(run([RUNNER, "-e", "main", "--entry-point-result=i64", "-"], lowered)) / 4
