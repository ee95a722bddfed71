"""The rooms of the package: imports point one way, between modules and between packages.

Imports inside functions count like any others: they are for heavy libraries, not for circles.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import partita as pt

ROOT = Path(pt.__file__).parent
Graph = dict[str, set[str]]


def name_of(path: Path) -> str:
    parts = ("partita", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# The compiled module is known by its stubs, and imports nothing.
FILES = {name_of(path): path for path in [*ROOT.rglob("*.py"), ROOT / "_partita.pyi"]}
PACKAGES = {name for name, path in FILES.items() if path.name == "__init__.py"}


def is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def nodes_that_run(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only type checkers see."""
    for node in ast.iter_child_nodes(tree):
        if not is_for_types(node):
            yield node
            yield from nodes_that_run(node)


def imported(name: str, source: str) -> set[str]:
    """The modules of partita that a module names in its imports."""
    package = name if name in PACKAGES else name.rpartition(".")[0]
    found: set[str] = set()
    for node in nodes_that_run(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *filter(None, [node.module])])
            full = {one: f"{base}.{one}" for one in (alias.name for alias in node.names)}
            found |= {path if path in FILES else base for path in full.values()}
    return (found & set(FILES)) - {name}


def graph_of_modules() -> Graph:
    graph = {
        name: imported(name, path.read_text())
        for name, path in FILES.items()
        if path.suffix == ".py"
    }
    # What `partita` loads when it is first named stands in tables, not in imports.
    tables = vars(pt)
    named = {*tables["_LATER"].values(), *tables["_MODULES"], *tables["_EXTRAS"]}
    assert {f"partita.{one}" for one in named} <= set(FILES)
    graph["partita"] |= {f"partita.{one}" for one in named}
    return graph


def room(name: str) -> str:
    """The package that a module lies in; modules of the ground floor are rooms of their own."""
    parts = name.split(".")
    return ".".join(parts[:2])


def circle(graph: Graph) -> list[str]:
    """One circle of a graph; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_modules_do_not_import_each_other_in_a_circle() -> None:
    graph = graph_of_modules()
    assert len(graph) > 80
    assert sum(map(len, graph.values())) > 200
    assert circle(graph) == []


def test_packages_do_not_import_each_other_in_a_circle() -> None:
    rooms: Graph = {}
    for name, others in graph_of_modules().items():
        rooms.setdefault(room(name), set()).update(map(room, others))
    assert circle({name: others - {name} for name, others in rooms.items()}) == []


@pytest.mark.parametrize(
    "source",
    [
        "import partita._errors",
        "from partita._errors import TeamError",
        "from partita import _errors",
        "from . import _errors",
        "from ._errors import TeamError",
        "def f():\n    from partita._errors import TeamError",
        "class A:\n    def f(self):\n        if True:\n            import partita._errors",
    ],
)
def test_every_way_to_import_is_seen(source: str) -> None:
    assert imported("partita._args", source) == {"partita._errors"}


def test_what_only_type_checkers_import_is_left_out() -> None:
    assert imported("partita._args", "if TYPE_CHECKING:\n    import partita._errors") == set()


def test_a_circle_would_be_found() -> None:
    graph = graph_of_modules()
    graph["partita._errors"].add("partita.dask")
    assert "partita._errors" in circle(graph)


def test_nothing_is_imported_by_a_name_that_imports_do_not_show() -> None:
    for name, path in FILES.items():
        # Those load other libraries, a user's module, and what `partita` has in its tables.
        if name in ("partita", "partita._command.check_object", "partita.torch.backend.install"):
            continue
        assert "__import__(" not in path.read_text(), name
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
                assert "partita" not in ast.unparse(node), name


@pytest.mark.parametrize("package", sorted(PACKAGES - {"partita"}))
def test_a_package_is_its_table_of_contents(package: str) -> None:
    text = ast.get_docstring(ast.parse(FILES[package].read_text())) or ""
    inside = [name for name in FILES if name.rpartition(".")[0] == package]
    assert [name for name in inside if f"`{name.rpartition('.')[2]}`" not in text] == []


def test_importing_partita_loads_none_of_the_rooms() -> None:
    program = "import sys, partita; print(*[one for one in sys.modules if 'partita' in one])"
    child = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    loaded = {"_errors", "_engines", "_partita", "_team", "_team.place"}
    assert set(child.stdout.decode().split()) == {"partita", *(f"partita.{one}" for one in loaded)}


def test_dist_needs_no_import_of_its_own() -> None:
    program = (
        "import partita as pt\n"
        "assert pt.dist.default_partition(3, 1, (8, 5)) == [(2, 3), (0, 5)]\n"
        "assert 'dist' in dir(pt)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
