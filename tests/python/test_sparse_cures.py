"""Errors of sparse tensors name what was given and what to use."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import partita as pt
from partita import sparse
from partita.sparse import DistTensor

# What is given is wrong for their types, too.
linalg: Any = pt.sparse.linalg
untyped: Any = sparse
Work = Callable[[Any], Any]
BOX = np.arange(24.0).reshape(2, 3, 4)


def square() -> DistTensor:
    return DistTensor.from_scipy(sp.csr_array(np.eye(6) * 4))


WRONG: dict[str, tuple[Work, type[Exception], str]] = {
    "generator": (
        lambda t: sparse.random_array((3, 3), rng=np.random.default_rng(0)),
        TypeError,
        "a Generator as a seed; use an integer",
    ),
    "seed": (lambda t: untyped.rmat(3, seed="a"), TypeError, "a str as a seed; use an integer"),
    "number": (lambda t: t @ 3, TypeError, r"use \* for numbers"),
    "number first": (lambda t: 3 @ t, TypeError, r"use \* for numbers"),
    "text": (lambda t: t @ "x", TypeError, "use a sparse tensor or a dense array"),
    "any": (lambda t: pt.any(t), TypeError, "partita.any .*count_nonzero"),
    "all": (lambda t: pt.all(t), TypeError, "partita.all .*count_nonzero"),
    "where": (lambda t: pt.where(t, 1, 0), TypeError, "partita.where .*comparisons"),
    "sort": (lambda t: pt.sort(t), TypeError, "partita.sort .*to_dense"),
    "solve": (lambda t: pt.linalg.solve(t, np.ones(6)), TypeError, "linalg.solve .*cg or gmres"),
    "inv": (lambda t: pt.linalg.inv(t), TypeError, "linalg.inv .*cg or gmres"),
    "eigh": (lambda t: pt.linalg.eigh(t), TypeError, "linalg.eigh .*linalg.eigsh"),
    "scale": (lambda t: untyped.rmat(3.5), pt.LayoutError, "scale 3.5 is no integer"),
    "factor": (lambda t: untyped.rmat(3, 1.5), pt.LayoutError, "edge_factor 1.5 is no integer"),
    "share": (lambda t: untyped.rmat(3, a="x"), pt.LayoutError, "a 'x' is no finite number"),
    "rtol": (lambda t: linalg.cg(t, np.ones(6), rtol="x"), TypeError, "rtol='x'; use a number"),
    "atol": (lambda t: linalg.gmres(t, np.ones(6), atol=None), TypeError, "atol=None; use a"),
    "complex": (lambda t: linalg.cgs(t, np.ones(6), rtol=1j), TypeError, "rtol=1j; use a number"),
    "below": (lambda t: linalg.minres(t, np.ones(6), rtol=-1), ValueError, "a number from 0 on"),
    "lobpcg": (lambda t: linalg.lobpcg(t, np.ones((6, 1)), tol="x"), TypeError, "tol='x'; use"),
    "eigsh": (lambda t: linalg.eigsh(t, 1, tol="x"), TypeError, "tol='x'; use a number"),
    "restart": (lambda t: linalg.gmres(t, np.ones(6), restart="x"), pt.LayoutError, "restart 'x'"),
    "callback": (lambda t: linalg.cg(t, np.ones(6), callback=3), pt.LayoutError, "use a function"),
    "operator": (lambda t: linalg.LinearOperator("x"), pt.LayoutError, "shape 'x' is no list"),
    "few extents": (lambda t: untyped.diags([1.0], shape=(2,)), pt.LayoutError, "use two numbers"),
    "one extent": (lambda t: untyped.diags([1.0], shape=5), pt.LayoutError, "shape 5 is no list"),
    "no indices": (
        lambda t: untyped.DistTensor.from_coo((5, 5), None, [1.0]),
        pt.LayoutError,
        "indices None; give a list",
    ),
    "made of": (
        lambda t: untyped.DistTensor(3),
        pt.LayoutError,
        "a int; use DistTensor.from_scipy",
    ),
    "third norm": (lambda t: linalg.norm(t, 3), NotImplementedError, "inf or -inf, .* for 2"),
    "norm of numbers": (lambda t: linalg.norm(t, 0), NotImplementedError, "1, -1, inf or -inf"),
    "nuclear norm": (lambda t: linalg.norm(t, "nuc"), NotImplementedError, "inf or -inf"),
    "sampler": (
        lambda t: untyped.random_array((3, 3), data_sampler=np.ones),
        TypeError,
        r"'data_sampler' here; use t.with_values\(sampler",
    ),
    "old matrix": (
        lambda t: sparse.mmread("m.mtx", spmatrix=True),
        pt.LayoutError,
        "use spmatrix=False",
    ),
    "box": (
        lambda t: sparse.mmwrite("box.mtx", DistTensor.from_dense(BOX)),
        ValueError,
        r"shape \(2, 3, 4\) to write",
    ),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("n_ranks", [1, 2])
def test_what_is_wrong_is_named(name: str, n_ranks: int) -> None:
    work, kind, said = WRONG[name]

    def body(team: pt.Team) -> None:
        with pytest.raises(kind, match=said):
            work(square())

    pt.spmd(body, n_ranks, deadline=30.0)


@pytest.mark.parametrize(("module", "extra"), [("torch", "torch"), ("jax", "jax")])
def test_a_missing_package_is_named_with_its_extra(module: str, extra: str) -> None:
    code = f"import sys; sys.modules[{extra!r}] = None\nimport partita.{module}"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert f"ImportError: partita.{module} needs {extra}; install it with" in ended.stderr
    assert f"'pip install partita[{extra}]'" in ended.stderr


def test_arguments_in_scipys_order() -> None:
    values = [[1.0, 2.0, 3.0], [4.0, 5.0]]
    for shape in (None, (3, 3)):
        for dtype in (None, "float32"):
            found = untyped.diags(values, [0, 1], shape, "csc", dtype)
            wanted = sp.diags(values, [0, 1], shape, "csc", dtype)
            assert (found.format, found.dtype) == ("csc", wanted.dtype)
            np.testing.assert_array_equal(found.gather().toarray(), wanted.toarray())
    found = sparse.eye(3, 4, 1, "int32", "coo")
    assert (found.format, found.dtype.name) == ("coo", "int32")
    np.testing.assert_array_equal(found.gather().toarray(), np.eye(3, 4, 1))
    assert sparse.eye(3, format=None).format == "csr"


@pytest.mark.parametrize("index_dtype", ["int32", "int64", None])
@pytest.mark.parametrize("root", [None, 0])
def test_coordinates_as_wide_as_is_asked(index_dtype: Any, root: int | None) -> None:
    def body(team: pt.Team) -> None:
        for made in (sp.csr_array(np.eye(5)), sp.coo_array(np.eye(5)), sp.csc_array(np.eye(5))):
            t = DistTensor.from_scipy(made, root=root, index_dtype=index_dtype)
            assert t.index_dtype == (index_dtype or "int32")
            np.testing.assert_array_equal(t.gather().toarray(), np.eye(5))
            # Others can read it.
            np.testing.assert_array_equal(t.get_slice((0, 0)).toarray()[0], np.eye(5)[0])
            team.barrier()
        with pytest.raises(pt.LayoutError, match="use int32 or int64"):
            DistTensor.from_scipy(made, root=root, index_dtype="int8")
        kind = "int64" if team.rank == 0 else "int32"
        with pytest.raises(pt.MismatchError, match=r"ind.* int"):
            DistTensor.from_scipy(made, root=root, index_dtype=kind)

    pt.spmd(body, 2, deadline=30.0)


def test_nothing_is_a_slice_to_set() -> None:
    def body(team: pt.Team) -> None:
        t = square()
        if team.rank == 0:
            t.set_slice(t.slice_id, sp.csr_array(t.get_slice(t.slice_id).shape))
        else:
            t.set_slice()
        assert t.sum() == 12
        with pytest.raises(pt.LayoutError, match="both, or nothing"):
            t.set_slice((0, 0))

    pt.spmd(body, 2, deadline=30.0)


def test_dense_files_have_no_sparse_format(tmp_path: Path) -> None:
    (tmp_path / "m.mtx").write_text("%%MatrixMarket matrix array real general\n2 1\n1\n2\n")
    found: Any = sparse.mmread(tmp_path / "m.mtx")
    assert isinstance(found, pt.Array)
    np.testing.assert_array_equal(found.gather(), [[1], [2]])
    with pytest.raises(pt.LayoutError, match=r"format=.csr. for .* dense"):
        sparse.mmread(tmp_path / "m.mtx", format="csr")


def test_what_a_file_says_of_itself(tmp_path: Path) -> None:
    scipys = pytest.importorskip("scipy.io")
    values = np.array([[1.0, 2.0], [2.0, 5.0]])
    given = {"dense": values, "sparse": sp.coo_array(values), "whole": sp.eye_array(3, dtype=int)}
    for name, one in given.items():
        scipys.mmwrite(tmp_path / name, one)
        assert sparse.mminfo(tmp_path / f"{name}.mtx") == scipys.mminfo(tmp_path / f"{name}.mtx")
    assert isinstance(sparse.mmread(tmp_path / "sparse.mtx", spmatrix=False), DistTensor)


def test_attributes_of_scipys_arrays_name_what_to_use() -> None:
    t: Any = square()
    for name in ("prune", "has_canonical_format", "has_sorted_indices"):
        assert not hasattr(t, name)
        with pytest.raises(AttributeError, match=f"no '{name}' here; use"):
            getattr(t, name)


def test_an_operator_of_a_named_matrix() -> None:
    assert linalg.aslinearoperator(A=square()).shape == (6, 6)


ELSEWHERE = {
    "identity": "use eye",
    "kronsum": "kron",
    "csr_array": "format='csr'",
    "lil_matrix": "from_coo",
    "random": "use random_array",
    "csgraph": "products with masks",
    "linalg.eigs": "eigsh",
    "linalg.svds": "eigsh",
    "linalg.spsolve": "cg, gmres",
    "linalg.expm_multiply": "t.gather()",
    "linalg.splu": "block_jacobi",
    "linalg.lsqr": "t.T @ b",
    "linalg.ArpackNoConvergence": "NoConvergence",
    "linalg.LaplacianNd": "partita.sparse.laplacian(shape)",
}


def test_scipys_names_that_are_not_here_name_what_is() -> None:
    for name, cure in ELSEWHERE.items():
        module, _, own = name.rpartition(".")
        where = linalg if module else sparse
        assert not hasattr(where, own)
        with pytest.raises(AttributeError, match=f"scipy.sparse.{name} has no") as met:
            getattr(where, own)
        assert cure in str(met.value)
    for where in (sparse, linalg):
        with pytest.raises(AttributeError, match="no attribute 'foo'"):
            where.foo  # noqa: B018


def test_what_is_named_instead_of_kronsum_is_that() -> None:
    a, b = sp.csr_array(np.arange(4.0).reshape(2, 2)), sp.csr_array(np.arange(9.0).reshape(3, 3))
    found = sparse.kron(sparse.eye(3), a) + sparse.kron(b, sparse.eye(2))
    np.testing.assert_array_equal(found.gather().toarray(), sp.kronsum(a, b).toarray())


def test_scipys_names_that_are_here() -> None:
    t = sparse.eye_array(3, k=1)
    assert sparse.issparse(t)
    assert sparse.issparse(sp.csr_array(np.eye(3)))
    assert not sparse.issparse(np.eye(3))
    made = sparse.diags_array([1.0, 2.0], offsets=1, shape=(3, 3))
    np.testing.assert_array_equal(made.gather().toarray(), np.diag([1.0, 2.0], 1))
