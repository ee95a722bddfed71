"""Arrays have all their methods from the first one on, whichever way it comes into being.

Every way is gone in a process of its own, since one that has loaded the methods has them for good.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

# What every array must know, whatever made it: `array` has one or two dimensions.
CHECKS = """
import numpy
def check(array):
    local = array.gather()
    assert (array @ array.T).shape == (local @ local.T).shape
    assert array.reshape(-1).shape == local.reshape(-1).shape
    assert array.real.dtype == local.real.dtype
    assert str(array) == str(local), str(array)
    assert type(numpy.add(array, array)) is type(array)
    assert type(numpy.sum(array)) is type(array)
    assert len(list(array)) == len(local)
    assert array.tolist() == local.tolist()
    assert hasattr(type(array), "__array_namespace__")
"""

# Lines that make `array`, without a function of the top level where that is possible.
WAYS = {
    "the old random functions": "import partita as np; array = np.random.rand(4, 4)",
    "a generator": "from partita.random import default_rng; array = default_rng(3).random(5)",
    "RandomState": "from partita.random import RandomState; array = RandomState(3).rand(5)",
    "frequencies": "import partita as np; array = np.fft.fftfreq(4)",
    "a transform": "from partita import fft; array = fft.fft([1.0, 2.0, 3.0])",
    "linear algebra": "from partita import linalg; array = linalg.inv([[2.0, 1.0], [1.0, 3.0]])",
    "a product": "from partita.linalg import matmul; array = matmul([[2.0]], [[3.0]])",
    "emath": "from partita import emath; array = emath.sqrt([-1.0, 4.0])",
    "windows": """
from numpy import arange
from partita.lib.stride_tricks import sliding_window_view
array = sliding_window_view(arange(6.0), 3)
""",
    "zeros": "import partita as np; array = np.zeros((3, 3))",
    "from zeros": "from partita import zeros; array = zeros((3, 3))",
    "asarray of others": "import numpy, partita as np; array = np.asarray(numpy.eye(3))",
    "the engine itself": """
import numpy
from partita._array.enter import from_numpy
from partita._team.spmd import world
array = from_numpy(numpy.eye(3), world().arrays)
""",
    "memory of its own": """
import numpy
import partita as pt
from partita._protocol.from_local import from_local
team = pt.world()
layout = pt.Layout((2 * team.size, 3), f"block, * @ {team.size}x1")
array = from_local(numpy.ones((2, 3)), layout, team)
""",
    "a dictionary of partitions": """
import numpy
from partita import world
from partita._protocol.partitioned import from_partitioned
team = world()
parts = {(rank, 0): {"start": (2 * rank, 0), "shape": (2, 3), "location": [rank],
         "data": numpy.ones((2, 3)) if rank == team.rank else None} for rank in range(team.size)}
array = from_partitioned({"shape": (2 * team.size, 3), "partition_tiling": (team.size, 1),
    "partitions": parts, "locals": [(team.rank, 0)], "get": lambda handle: handle}, team=team)
""",
    "distarray": """
import numpy
from partita._protocol.distarray import from_distarray
import partita as pt
team = pt.world()
dims = ({"dist_type": "b", "size": 2 * team.size, "proc_grid_size": team.size,
         "proc_grid_rank": team.rank, "start": 2 * team.rank, "stop": 2 * team.rank + 2},)
class Local:
    def __distarray__(self):
        return {"__version__": "0.10.0", "buffer": numpy.ones(2), "dim_data": dims}
array = from_distarray(Local(), team=team)
""",
    "a pickle": """
import base64, pickle, subprocess, sys
made = "import base64, pickle, partita as pt; a = pt.ones((3, 3));"
made += "print(base64.b64encode(pickle.dumps(a)).decode())"
child = subprocess.run([sys.executable, "-c", made], capture_output=True, check=True)
array = pickle.loads(base64.b64decode(child.stdout))
""",
}


def run(program: str) -> str:
    child = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=100
    )
    assert child.returncode == 0, child.stderr
    return child.stdout


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("way", WAYS)
def test_the_first_array_has_its_methods(way: str, ranks: int) -> None:
    lines = "\n".join(f"    {line}" for line in f"{WAYS[way].strip()}\ncheck(array)".splitlines())
    if ranks == 1:
        run(f"{CHECKS}\nif True:\n{lines}\n")
    else:
        body = f"def job(team):\n{lines}\n"
        run(f"{CHECKS}\n{body}\nfrom partita._team.spmd import spmd\nspmd(job, {ranks})\n")


DRAWS = [
    "lognormal(0.0, 1.0, 5)",
    "pareto(3.0, 5)",
    "geometric(0.3, 5)",
    "choice(5, 3)",
    "choice([1.0, 2.0, 3.0], 4, p=[0.2, 0.3, 0.5])",
    "permuted([[1, 2], [3, 4]], axis=0)",
    "permutation(5)",
    "dirichlet([1.0, 2.0], 3)",
    "multivariate_normal([0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]], 3)",
]


@pytest.mark.parametrize("draw", DRAWS)
def test_the_first_numbers_are_those_of_any_time(draw: str) -> None:
    """What is drawn before anything else was loaded, on 1 and on 2 ranks, and afterwards."""
    program = (
        "from partita.random import default_rng\n"
        "from partita._team.spmd import spmd\n"
        f"def job(team):\n    return default_rng(7).{draw}.tolist()\n"
        "print([spmd(job, 2)[1], spmd(job, 1)[0]])\n"
    )
    two, one = eval(run(program))
    assert one == two
    assert len(one) > 1


def test_the_class_has_its_methods_before_there_is_an_array() -> None:
    run("import partita as pt\nassert pt.Array.T and pt.Array.__matmul__\n")


def test_ranks_that_begin_at_once_find_the_methods() -> None:
    program = (
        "import partita as pt\n"
        "def job(team):\n"
        "    a = pt.random.rand(4, 4) if team.rank % 2 else pt.random.random((4, 4))\n"
        "    return (a @ a).T.shape\n"
        "assert pt.spmd(job, 4) == [(4, 4)] * 4\n"
    )
    run(program)
