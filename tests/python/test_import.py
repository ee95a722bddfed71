"""What importing partita brings, and what it leaves alone."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import partita as pt
from partita import _partita

# What needs other libraries is tried beside them, in tests/peers.
EXTRAS = ("partita.torch", "partita.jax")
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(pt.__path__, "partita.")
    if not module.name.endswith(("__main__", "_partita")) and not module.name.startswith(EXTRAS)
)

PROBE = """
import sys
import partita
heavy = "numpy mpi4py torch dask ray scipy numba hypothesis".split()
print(*[name for name in heavy if name in sys.modules])
"""


def test_importing_is_light() -> None:
    child = subprocess.run(
        [sys.executable, "-c", PROBE], capture_output=True, text=True, check=True
    )
    assert child.stdout.split() == []


def test_parts_are_imported_when_named() -> None:
    program = (
        "import sys, partita as pt\n"
        "assert 'partita.distdl' not in sys.modules\n"
        "assert pt.distdl.halo_widths(4, 2, 3) == [(0, 1), (1, 0)]\n"
        "assert not {'torch', 'jax', 'mpi4py'} & set(sys.modules)\n"
        "assert not hasattr(pt, 'no_such_part')\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_layout_needs_no_numpy() -> None:
    program = (
        "import sys, partita as pt\n"
        "layout = pt.Layout((8, 8), 'block, cyclic(2) @ 2x2')\n"
        "assert layout.owner((7, 7)) == 3\n"
        "plan = pt.plan(layout, layout, 'float32')\n"
        "assert plan.n_messages == 0 and str(layout) and plan.explain()\n"
        "assert 'numpy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_public_names_exist_and_say_what_they_are() -> None:
    assert len(set(pt.__all__)) == len(pt.__all__)
    for name in pt.__all__:
        value = getattr(pt, name)
        if name == "__version__":
            assert value.count(".") == 2
            continue
        if isinstance(value, float | type(None)) or value is np.dtype:
            continue
        if value is getattr(np, name, None):
            continue
        assert value.__module__.partition(".")[0] == "partita", name
        assert inspect.getdoc(value), name
    public = {name for name in dir(pt) if not name.startswith("_")}
    modules = {name for name in public if inspect.ismodule(getattr(pt, name))}
    assert public - modules == set(pt.__all__) - modules - {"__version__"}


def test_public_methods_say_what_they_do() -> None:
    for name in pt.__all__:
        owner = getattr(pt, name)
        is_numpys = owner is getattr(np, name, None)
        if inspect.isclass(owner) and not is_numpys and not issubclass(owner, Exception):
            for method, value in vars(owner).items():
                if not method.startswith("_"):
                    assert inspect.getdoc(value), f"{name}.{method}"


def test_stubs_are_shipped() -> None:
    folder = Path(pt.__file__).parent
    assert (folder / "py.typed").is_file()
    stub = (folder / "_partita.pyi").read_text()
    for name in pt.__all__:
        if hasattr(_partita, name):
            assert f"class {name}:" in stub or f"def {name}(" in stub or f"{name}:" in stub


@pytest.mark.parametrize("name", ["partita", *MODULES])
def test_examples_in_docstrings_run(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name), verbose=False)
    assert found.failed == 0
    if name in ("partita", "partita.dist"):
        assert found.attempted > 0


def test_examples_of_the_oracle_run() -> None:
    found = doctest.testmod(importlib.import_module("oracle"))
    assert (found.failed, found.attempted > 0) == (0, True)
