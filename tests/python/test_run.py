"""`partita run`: scripts on several ranks, and what they leave behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from odd_errors import ODD

# Odd errors that end a program without being shown.
ENDS = ("an exit", "an interrupt")

COMMAND = [str(Path(sys.executable).parent / "partita"), "run"]


def run(tmp_path: Path, source: str, *args: str) -> subprocess.CompletedProcess[str]:
    script = tmp_path / "script.py"
    script.write_text(source)
    command = [*COMMAND, "-n", "3", str(script), *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_every_rank_has_its_own_namespace(tmp_path: Path) -> None:
    source = """
import sys
import partita as pt
team = pt.world()
mine = team.rank
team.barrier()
assert mine == team.rank and __name__ == "__main__"
all_ranks = team.allgather_data((mine, sys.argv[1:]))
if team.rank == 0:
    print(all_ranks)
"""
    done = run(tmp_path, source, "--flag", "x")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str([(rank, ["--flag", "x"]) for rank in range(3)])


@pytest.mark.parametrize(
    ("source", "status", "text"),
    [
        ("raise ValueError('bad luck')", 1, "bad luck"),
        ("import sys; sys.exit(7)", 7, ""),
        ("import sys; sys.exit('told so')", 1, "told so"),
        (
            "import partita as pt\nteam = pt.world()\nassert team.rank != 1\nteam.barrier()",
            1,
            "on rank 1 of 3",
        ),
        ("1 +", 1, "SyntaxError"),
    ],
)
def test_failures_end_with_a_status(tmp_path: Path, source: str, status: int, text: str) -> None:
    done = run(tmp_path, source)
    assert done.returncode == status, done.stderr
    assert text in done.stderr


@pytest.mark.parametrize("name", [name for name in ODD if name not in ENDS])
def test_an_odd_error_of_one_rank_ends_the_script(tmp_path: Path, name: str) -> None:
    """The others wait in a call, and the error that is shown is the one that was raised."""
    source = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import odd_errors
import partita as pt
team = pt.world().with_deadline(None)
if team.rank == 1:
    odd_errors.ODD[{name!r}][0]()
team.barrier()
"""
    done = run(tmp_path, source)
    assert done.returncode == 1, done.stderr
    assert ODD[name][2][0].partition(":")[0] in done.stderr
    assert "RemoteError" not in done.stderr


def test_an_exit_without_text_has_a_status(tmp_path: Path) -> None:
    source = """
class Mute:
    def __str__(self):
        raise OSError("asked too much")

raise SystemExit(Mute())
"""
    done = run(tmp_path, source)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr


def test_wrong_usage(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("")
    for args, status in (
        (["-n", "0", str(script)], 2),
        (["-n", "x", str(script)], 2),
        ([str(script)], 2),
        (["-n", "2", str(tmp_path / "none.py")], 1),
    ):
        done = subprocess.run(
            [*COMMAND, *args], capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == status, (args, done.stderr)
        assert "error" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("engine", ["threads", "mpi"])
def test_no_ranks_are_refused_alike_on_every_engine(tmp_path: Path, engine: str) -> None:
    script = tmp_path / "script.py"
    script.write_text("")
    for n_ranks, reason in (("0", "ranks-zero"), ("-1", "ranks-negative")):
        command = [*COMMAND, "-n", n_ranks, "--engine", engine, str(script)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr.split(":")[0]) == (2, f"error[{reason}]")


def test_the_same_script_on_mpi(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import partita as pt\nteam = pt.world()\n"
        "if team.allgather_data(team.rank) == [0, 1] and team.rank == 0:\n"
        "    print(team.engine)\n"
    )
    command = [*COMMAND, "-n", "2", "--engine", "mpi", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "mpi\n"


@pytest.mark.parametrize("waiting", ["team.barrier()", "time.sleep(60)", "while True: pass"])
def test_ctrl_c_ends_all_ranks(tmp_path: Path, waiting: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"""
import time
import partita as pt
team = pt.world()
team.barrier()
if team.rank == 0:
    print("ready", flush=True)
    time.sleep(60)
{waiting}
""")
    command = [*COMMAND, "-n", "2", str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            time.sleep(0.2)
            os.kill(child.pid, signal.SIGINT)
            assert child.wait(timeout=20) == 130
        finally:
            child.kill()
