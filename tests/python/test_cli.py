"""The command `partita`, as installed."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import partita as pt

COMMAND = str(Path(sys.executable).parent / "partita")
ROWS, COLUMNS = "block, * @ 4x1", "*, block @ 1x4"


def run(*args: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, *args],
        capture_output=True,
        text=True,
        check=False,
        env=None if env is None else os.environ | env,
    )


def good(*args: str) -> str:
    done = run(*args)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_show_prints_the_picture() -> None:
    layout = pt.Layout((16, 16), "block, cyclic(2) @ 2x2")
    assert good("show", "16x16", layout.notation) == f"{layout}\n"
    assert good("show", "", "@ 3") == f"{pt.Layout((), '@ 3')}\n"


def test_show_writes_svg(tmp_path: Path) -> None:
    layout = pt.Layout((16, 16), ROWS)
    file = tmp_path / "layout.svg"
    good("show", "16x16", ROWS, "--svg", str(file))
    assert file.read_text() == layout.draw()
    ElementTree.parse(file)


def test_plan_explains() -> None:
    plan = pt.plan(pt.Layout((64, 64), ROWS), pt.Layout((64, 64), COLUMNS), "f32")
    out = good("plan", "64x64", ROWS, COLUMNS, "--dtype", "f32")
    assert out.startswith(plan.explain())
    assert "from\\to" in out
    diagonal = [line for line in out.splitlines() if "[" in line]
    assert len(diagonal) == 4


def test_plan_prints_json() -> None:
    plan = pt.plan(pt.Layout((64, 64), ROWS), pt.Layout((64, 64), COLUMNS), "f32")
    found = json.loads(good("plan", "64x64", ROWS, COLUMNS, "--dtype", "f32", "--json"))
    for key in (
        *("n_ranks", "n_messages", "bytes_moved", "bytes_lower_bound"),
        *("max_send_bytes", "max_recv_bytes", "fingerprint"),
        *("pattern", "dtype", "n_moves", "bytes_kept", "extra_bytes"),
    ):
        assert found[key] == getattr(plan, key)
    assert found["shape"] == [64, 64]
    assert (found["source"], found["target"]) == (ROWS, COLUMNS)


def test_plan_writes_svg(tmp_path: Path) -> None:
    file = tmp_path / "plan.svg"
    good("plan", "64x64", ROWS, COLUMNS, "--svg", str(file))
    plan = pt.plan(pt.Layout((64, 64), ROWS), pt.Layout((64, 64), COLUMNS))
    assert file.read_text() == plan.draw()


def test_plan_of_one_rank() -> None:
    plan = pt.plan(pt.Layout((64, 64), ROWS), pt.Layout((64, 64), COLUMNS))
    found = json.loads(good("plan", "64x64", ROWS, COLUMNS, "--rank", "2", "--json"))
    assert (found["rank"], found["fingerprint"]) == (2, plan.fingerprint)
    assert (found["n_sends"], found["n_receives"]) == (3, 3)
    assert found["send_bytes"] == found["recv_bytes"] == 3 * 16 * 16 * 8
    assert found["keep_bytes"] == 16 * 16 * 8
    moves = plan.moves(2)
    assert [
        (move["source_rank"], move["target_rank"], move["bytes"]) for move in found["moves"]
    ] == [(move.source_rank, move.target_rank, move.n_bytes) for move in moves]
    levels = [run.levels for run in moves[0].runs[1]]
    shown = [run["levels"] for run in found["moves"][0]["runs"][1]]
    assert [[tuple(level.values()) for level in each] for each in shown] == levels
    text = good("plan", "64x64", ROWS, COLUMNS, "--rank", "2")
    assert f"plan {plan.fingerprint}  rank 2" in text
    assert "sends 6144 bytes to 3 ranks, receives 6144 bytes from 3, keeps 2048 bytes" in text


def test_a_million_ranks_are_counted_exactly() -> None:
    """Rows to columns of 10^6 x 10^6: every rank sends one element to every other."""
    n = 10**6
    found = json.loads(good("plan", f"{n}x{n}", f"block, * @ {n}x1", f"*, block @ 1x{n}", "--json"))
    assert found["n_ranks"] == n
    assert found["n_moves"] == n * n
    assert found["n_messages"] == n * (n - 1)
    assert found["bytes_moved"] == found["bytes_lower_bound"] == n * (n - 1) * 8
    assert found["bytes_kept"] == n * 8
    assert found["max_send_bytes"] == found["max_recv_bytes"] == (n - 1) * 8


def test_one_of_a_million_ranks_is_quick() -> None:
    n = 10**6
    source, target = f"block @ {n}", f"cyclic(64) @ {n}"
    found = json.loads(good("plan", "1000000000", source, target, "--rank", "999999", "--json"))
    plan = pt.plan(pt.Layout(10**9, source), pt.Layout(10**9, target))
    assert len(found["moves"]) == len(plan.moves(999_999))
    assert found["send_bytes"] + found["keep_bytes"] == 1000 * 8


def test_doctor_says_what_is_here() -> None:
    out = good("doctor")
    facts = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert facts["partita"] == pt.__version__
    assert facts["Python"] == sys.version.split()[0]
    assert facts["system"].startswith("linux")
    assert int(facts["cores"]) > 0
    assert facts["copying"].endswith("GB/s on one core")
    assert facts["numpy"][0].isdigit()
    assert facts["mpiexec"] == str(Path(sys.executable).parent / "mpiexec")
    assert facts["MPI"]


def test_help_and_version() -> None:
    assert good("--version") == f"partita {pt.__version__}\n"
    assert "Usage: partita" in good("--help")
    assert "Example:" in good("plan", "--help")


# Arguments, part of the complaint.
WRONG_USAGE = [
    ([], "Usage"),
    (["dance"], "dance"),
    (["show"], "SHAPE"),
    (["show", "8"], "LAYOUT"),
    (["show", "8", "block @ 2", "--pdf"], "--pdf"),
    (["show", "8x", "block @ 2"], "error[notation-unexpected]: column 3"),
    (["show", "-8", "block @ 2"], "error[notation-unexpected]: column 1"),
    (["show", "8", "blok @ 2"], "error[notation-unknown-map]: column 1"),
    (["show", "8,8", "*, *"], "column 2"),
    (["show", "8", "block"], "error[grid-missing]"),
    (["show", "99999999999999999999", "*"], "error[notation-number-too-large]"),
    (["show", "4294967296x4294967296", "*, *"], "error[shape-overflow]"),
    (["plan", "8", "block @ 2"], "TARGET"),
    (["plan", "8", "block @ 2", "blok @ 2"], "error[notation-unknown-map]: column 1"),
    (["plan", "8", "block @ 2", "* @ 2", "--dtype", "f99"], "error[dtype-unknown]"),
    (["plan", "8", "block @ 2", "* @ 2", "--rank", "2"], "error[rank-unknown]"),
    (["plan", "8", "block @ 2", "* @ 2", "--rank", "x"], "--rank"),
    (["plan", "8", "block @ 2", "* @ 2", "--rank", "-1"], "-1"),
]


@pytest.mark.parametrize(("args", "complaint"), WRONG_USAGE, ids=str)
def test_wrong_usage_ends_with_2(args: list[str], complaint: str) -> None:
    done = run(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert "panicked" not in done.stderr


def test_wrong_notation_points_at_the_column() -> None:
    done = run("show", "8x8", "block, blok @ 2x2")
    first, line, carets = done.stderr.splitlines()
    assert first.startswith("error[notation-unknown-map]: column 8:")
    assert line[carets.index("^") :].startswith("blok")


@pytest.mark.parametrize("command", [["show", "8", "*"], ["plan", "8", "*", "* @ 2"]], ids=str)
def test_a_file_that_cannot_be_written_ends_with_1(command: list[str], tmp_path: Path) -> None:
    file = tmp_path / "missing" / "x.svg"
    done = run(*command, "--svg", str(file))
    assert done.returncode == 1
    assert f"error: cannot write {file}" in done.stderr
    assert "Traceback" not in done.stderr


def test_output_that_is_closed_early_is_no_error() -> None:
    # More than a pipe holds, so that writing meets the closed end.
    n = 4000
    args = ["plan", f"{n}", f"cyclic @ {n}", "*", "--rank", "0", "--json"]
    shell = " ".join(f"'{arg}'" for arg in [COMMAND, *args])
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{shell} | head -c 10; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout == '{"fingerpr0\n'
    assert len(good(*args)) > 2 * 65536


def test_output_that_cannot_be_written_ends_with_1() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [COMMAND, "show", "8", "*"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr == "error: cannot write the output: No space left on device\n"


def test_any_encoding_will_do() -> None:
    args = ["show", "1000000", "block @ 1000000"]
    plain = run(*args, env={"PYTHONIOENCODING": "ascii"})
    assert (plain.returncode, plain.stderr) == (0, "")
    assert plain.stdout == good(*args).replace("…", "?")
    done = subprocess.run(
        [COMMAND.encode(), b"show", b"8", b"\xff @ 2"], capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"error[notation-unexpected]: column 1")


def test_closed_streams_are_no_error() -> None:
    for stream, status in ((1, 0), (2, 0)):
        done = subprocess.run(
            ["bash", "-c", f"'{COMMAND}' show 8 '*' {stream}>&-"], capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (status, b"")


def terminal(*args: str, env: dict[str, str]) -> str:
    """What the command prints on a terminal."""
    ours, theirs = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | env
    with subprocess.Popen([COMMAND, *args], stdout=theirs, env=environment) as process:
        os.close(theirs)
        out = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # Linux says so at the end
                break
            if not part:
                break
            out += part
        assert process.wait() == 0
    os.close(ours)
    return out.decode()


def test_colour_is_for_terminals_that_want_it() -> None:
    args = ("show", "16x16", "block, cyclic(2) @ 2x2")
    plain = good(*args)
    assert "\x1b" not in plain
    assert "\x1b[" in terminal(*args, env={})
    assert "\x1b" not in terminal(*args, env={"NO_COLOR": "1"})
    assert terminal(*args, env={"NO_COLOR": "1"}).replace("\r\n", "\n") == plain


def test_python_m_partita_is_the_command() -> None:
    args = ["plan", "64x64", ROWS, COLUMNS]
    done = subprocess.run(
        [sys.executable, "-m", "partita", *args], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == good(*args)
    wrong = subprocess.run(
        [sys.executable, "-m", "partita", "show", "8", "blok"], capture_output=True, check=False
    )
    assert wrong.returncode == 2
