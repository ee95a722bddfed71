"""Programs that partita prints are read and verified by stock MLIR tools and by xDSL."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TEXTS = Path(__file__).parents[2] / "crates/partita-ir/tests/text"
HEAT = Path(__file__).parents[2] / "examples/heat.mlir"
MLIR_OPT = shutil.which("mlir-opt-19")
needs_mlir = pytest.mark.skipif(
    MLIR_OPT is None, reason="mlir-opt-19 (Debian package mlir-19-tools) is not here"
)

SUM = """
!a = !ndarray.ndarray<8xf64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>
func.func @f(%x: !a) {
  %y = dist.ewbin add %x, %x : (!a, !a) to !a
  return
}
"""
RESULT = "-> !ndarray.ndarray<tensor<8xf64>, #dist.dist_env<"


def opt(*words: str, text: str | None = None) -> str:
    command = [sys.executable, "-m", "partita", "opt", *words]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def mlir_opt(text: str, *words: str) -> subprocess.CompletedProcess[str]:
    assert MLIR_OPT is not None
    command = [MLIR_OPT, *words, "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def irdl(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("irdl") / "partita.irdl.mlir"
    path.write_text(opt("--irdl"))
    return f"--irdl-file={path}"


def bare(text: str) -> str:
    """The text without what tools are free to change: names of values, names in affine maps."""
    text = re.sub(r"affine_map<.*?> *>|affine_map<\([^)]*\) -> \([^)]*\)>", "map", text)
    text = re.sub(r"%[\w$.-]+(:\d+)?(#\d+)?", "%", text)
    return re.sub(r"%(, %)* =", "% =", text)


def flags(name: str) -> list[str]:
    """One text has operations of a dialect that nobody knows."""
    return ["--allow-unregistered-dialect"] if name == "flow.mlir" else []


@needs_mlir
@pytest.mark.parametrize("name", sorted(path.name for path in TEXTS.glob("*.mlir")))
def test_generic_text_is_verified_and_comes_back_the_same(name: str, irdl: str) -> None:
    printed = opt(str(TEXTS / name))
    # IRDL cannot say that an operation ends a block, as region.env_region_yield does.
    words = ["--allow-unregistered-dialect"] if name == "region.mlir" else [irdl, *flags(name)]
    read = mlir_opt(printed, *words)
    assert read.returncode == 0, read.stderr
    again = opt("-", text=read.stdout)
    assert bare(again) == bare(printed)


def programs() -> list[Path]:
    """Texts of every kind, and those that passes are tested with."""
    return sorted([*TEXTS.glob("*.mlir"), *TEXTS.glob("passes/*.mlir"), HEAT])


@needs_mlir
@pytest.mark.parametrize("passes", [[], ["--pass", "default"]], ids=["as written", "lowered"])
@pytest.mark.parametrize("path", programs(), ids=lambda path: path.stem)
def test_builtin_text_needs_no_dialect_of_ours(path: Path, passes: list[str]) -> None:
    written = opt(str(path), *passes, "--form", "builtin")
    read = mlir_opt(written, *flags(path.name), "--mlir-print-op-generic")
    assert read.returncode == 0, read.stderr
    own = "(ndarray|dist|distruntime|region|partition)"
    unmarked = re.sub(r'partita\.\w+ = "(\\.|[^"\\])*"', "", written)
    assert not re.search(rf'[!#]{own}\.|"{own}\.\w+"\(', unmarked)
    assert bare(opt("-", text=read.stdout)) == bare(opt(str(path), *passes))


@needs_mlir
def test_stock_passes_lower_what_builtin_text_computes() -> None:
    """Loops of a lowered program become loops of scf, by a pass of stock MLIR."""
    written = opt(str(HEAT), "--pass", "default", "--form", "builtin")
    assert "linalg.generic" in written
    lowered = mlir_opt(written, "--convert-linalg-to-loops", "--canonicalize")
    assert lowered.returncode == 0, lowered.stderr
    assert "linalg" not in lowered.stdout
    assert "scf.for" in lowered.stdout


@needs_mlir
@pytest.mark.parametrize(
    ("wrong", "right", "said"),
    [
        (RESULT + "2 : i64", RESULT + "1 : i64", "does not satisfy the constraint"),
        ("{opp = 0", "{op = 0", "op"),
        ("dist.ewbon", "dist.ewbin", "ewbon"),
    ],
)
def test_mlir_refuses_what_partita_refuses(wrong: str, right: str, said: str, irdl: str) -> None:
    printed = opt("-", text=SUM)
    assert mlir_opt(printed, irdl).returncode == 0
    assert right in printed
    broken = printed.replace(right, wrong)
    refused = mlir_opt(broken, irdl)
    assert refused.returncode != 0
    assert said in refused.stderr


@pytest.mark.parametrize("name", sorted(path.name for path in TEXTS.glob("*.mlir")))
def test_xdsl_reads_the_generic_text(name: str) -> None:
    from xdsl.context import Context
    from xdsl.dialects import arith, builtin, complex, func, math, scf
    from xdsl.parser import Parser

    context = Context(allow_unregistered=True)
    for dialect in (builtin.Builtin, func.Func, arith.Arith, scf.Scf, math.Math, complex.Complex):
        context.load_dialect(dialect)
    module = Parser(context, opt(str(TEXTS / name))).parse_module()
    n_functions = sum(op.name == "func.func" for op in module.walk())
    assert n_functions == (TEXTS / name).read_text().count("func.func")
