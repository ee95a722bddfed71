"""What programs are called with: numbers and arrays of every kind, and calls that differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import partita as pt

ENV = "#dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>"
ARRAY, SINGLE = f"!ndarray.ndarray<?xf64, {ENV}>", "!ndarray.ndarray<f64, #dist.dist_env<team = 1>>"


def reduction(how: str) -> pt.ir.Module:
    return pt.ir.parse(
        f"func.func @f(%a: {ARRAY}) -> {SINGLE} {{\n"
        f"  %s = ndarray.reduction {how} %a : ({ARRAY}) -> {SINGLE}\n  return %s : {SINGLE}\n}}"
    )


def same(ty: str) -> pt.ir.Module:
    return pt.ir.parse(f"func.func @f(%x: {ty}) -> {ty} {{ return %x : {ty} }}")


def test_ranks_with_different_programs_are_told() -> None:
    def job(team: pt.Team) -> str:
        module = reduction("max" if team.rank == 1 else "sum")
        with pytest.raises((pt.ProgramError, pt.TeamError)) as error:
            module.run("f", np.arange(12.0), team=team)
        return str(error.value)

    for message in pt.spmd(job, 3):
        assert "program" in message
        assert "rank 1" in message


@pytest.mark.parametrize("odd", [None, "text", 2**70, object()])
def test_an_argument_that_one_rank_cannot_give_ends_that_run_alone(odd: Any) -> None:
    def job(team: pt.Team) -> tuple[str, float]:
        module = reduction("sum")
        with pytest.raises((pt.ProgramError, pt.TeamError)) as error:
            module.run("f", odd if team.rank == 1 else np.ones(6), team=team)
        return str(error.value), float(module.run("f", 1000 * np.ones(6), team=team))

    for message, found in pt.spmd(job, 3):
        assert "argument 0" in message
        assert found == 6000


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("kind", ["f8", "i4", "c16"])
def test_the_byte_order_of_an_array_is_heeded(order: str, kind: str) -> None:
    element = {"f8": "f64", "i4": "i32", "c16": "complex<f64>"}[kind]
    array = np.array([1, 2, 3], order + kind)
    found = same(f"!ndarray.ndarray<3x{element}>").run("f", array)
    np.testing.assert_array_equal(found, array)


def test_numbers_of_numpy_are_numbers() -> None:
    assert same("index").run("f", np.int64(8)) == 8
    assert same("f64").run("f", np.float32(0.5)) == 0.5
    assert same("i1").run("f", np.bool_(True)) is True
    assert same("ui64").run("f", 2**64 - 1) == 2**64 - 1
    assert same("ui64").run("f", np.uint64(2**64 - 1)) == 2**64 - 1
    with pytest.raises(pt.ProgramError, match="argument 0 is 18446744073709551615 where si64"):
        same("si64").run("f", 2**64 - 1)


def test_arrays_of_partita_are_arguments() -> None:
    np.testing.assert_array_equal(reduction("sum").run("f", pt.arange(4.0)), 6.0)


@pytest.mark.parametrize("given", [2**53 + 1, np.array([2**53 + 1]), np.array([2**63 + 1], "u8")])
def test_whole_numbers_are_not_rounded(given: Any) -> None:
    ty = "f64" if isinstance(given, int) else "!ndarray.ndarray<?xf64>"
    with pytest.raises(pt.ProgramError, match="hold") as error:
        same(ty).run("f", given)
    assert error.value.reason == "argument"
    assert same("f64").run("f", 2**53 + 2) == 2.0**53 + 2


@pytest.mark.parametrize("n_ranks", [0, -1, 100_000, 2**70])
def test_a_number_of_ranks_that_cannot_be_is_refused(n_ranks: int) -> None:
    with pytest.raises(pt.ProgramError, match="use 1 to 4096") as error:
        same("index").explain(n_ranks)
    assert error.value.reason == "ranks"


def test_a_sparse_tensor_without_coordinates_is_refused() -> None:
    with pytest.raises(pt.ProgramError, match="without coords"):
        same("f64").run("f", {"shape": (2, 2), "data": [1.0]})


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
def test_what_a_type_says_of_a_rank_must_be_so(n_ranks: int) -> None:
    ty = "!ndarray.ndarray<12xf64, #dist.dist_env<team = 1 loffs = 3 lparts = 1,4,2>>"

    def job(team: pt.Team) -> str:
        with pytest.raises((pt.ProgramError, pt.TeamError)) as error:
            same(ty).run("f", np.arange(12.0), team=team)
        return str(error.value)

    for message in pt.spmd(job, n_ranks):
        assert "loffs = 3 lparts = 1,4,2" in message
