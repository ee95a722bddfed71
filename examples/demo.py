"""A wave on four ranks, drawn, explained and timed beside NumPy; then an array moves.

    python examples/demo.py FOLDER               # pictures go there
    python examples/demo.py FOLDER --size 2000   # points along each side

Everything runs on threads of one process; nothing but partita is needed.
"""

import argparse
import time
import wave  # the program beside this one, which Python finds before its own module
from pathlib import Path

import numpy
import picture

import partita as pt

N_RANKS = 4
SIZE, N_FRAMES = 1000, 3
TIMED_STEPS = 100
LARGE, SMALL = (4096, 4096), (8, 24)
TEXT_SIZE, SHADES = (13, 25), " .:-=+*#%@"

NEXT = """
Next:
  partita run -n 4 examples/shallow_water.py       one of {n_examples} programs in examples/
  docs/from-numpy.md                               your own, from one core to four ranks
  partita show 16x16 "block, cyclic(2) @ 2x2"      a layout of your own
  partita plan 8192x8192 "block, * @ 4x1" "*, block @ 1x4"             what a movement costs
(the command is .venv/bin/partita; `. .venv/bin/activate` puts it on the path)"""


def main(folder: Path, size: int) -> None:
    """Show the wave, what its ranks exchange, how fast it is, and how arrays move."""
    folder.mkdir(exist_ok=True)
    print(f"A wave meets a wall with two slits: {size} x {size} points on {N_RANKS} ranks.\n")
    frames, step = pt.spmd(frames_of_a_wave, N_RANKS, (size,))[0]
    print(beside([text(frame) for frame in frames]))
    names = [folder / f"wave{number}.png" for number in range(len(frames))]
    for name, frame in zip(names, frames, strict=True):
        picture.save(name, picture.colored(frame, picture.SEA, -0.3, 0.3))
    print(f"\ndrawn in {', '.join(map(str, names))}")

    print("\nThe program is NumPy's, with `import partita as np`. Each rank has a band of rows and")
    print("in each step needs a row of each neighbour. Nobody wrote this exchange; np.explain says")
    print("of a step on the first rank:\n")
    print(step, end="\n\n")
    print_speed(size)
    print_movement(folder)
    print(NEXT.format(n_examples=n_examples()))


def n_examples() -> int:
    """How many programs run with NumPy and with partita: those that `script` starts."""
    folder = Path(__file__).parent
    texts = [one.read_text("utf-8") for one in folder.glob("*.py")]
    return sum("\nfrom script import " in text for text in texts)


def frames_of_a_wave(team: pt.Team, size: int):
    """Heights at several moments, on the first rank, and what a step comes to there."""
    before, now, wall = wave.start(pt, size)
    frames = []
    for _ in range(N_FRAMES):
        for _ in range(size // 3):
            wave.advance(before, now, wall)
            before, now = now, before
        frames.append(now.gather(root=0))
    wave.advance(before, now, wall)
    return frames, pt.explain(before)


def text(heights) -> list[str]:
    """Heights as characters; each is for the highest or deepest point of its part."""
    bands = numpy.array_split(numpy.abs(heights), TEXT_SIZE[0])
    parts = [[part.max() for part in numpy.array_split(b, TEXT_SIZE[1], axis=1)] for b in bands]
    shades = (numpy.array(parts).clip(0, 0.499) * 2 * len(SHADES)).astype(int)
    return ["".join(SHADES[shade] for shade in row) for row in shades]


def beside(texts: list[list[str]]) -> str:
    """Texts of the same height side by side."""
    return "\n".join(" | ".join(rows) for rows in zip(*texts, strict=True))


def print_speed(size: int) -> None:
    """Time the same function with NumPy, and with partita on one rank and on several."""
    by_numpy, wanted = timed(numpy, size)
    print(f"The speed of the same program, {size} x {size} points in float64:\n")
    print(f"  NumPy               {by_numpy * 1e3:7.2f} ms per step")
    for n_ranks in (1, N_RANKS):
        results = pt.spmd(lambda team: timed(pt, size), n_ranks)
        seconds, energy = max(one[0] for one in results), results[0][1]
        numpy.testing.assert_allclose(energy, wanted)
        name = f"partita, {n_ranks} rank{'s' if n_ranks > 1 else ' '}"
        print(f"  {name:<19} {seconds * 1e3:7.2f} ms per step, {by_numpy / seconds:4.1f} times")
    print("\nRanks are threads here and share this machine's cores.\n")


def timed(np, size: int) -> tuple[float, list[float]]:
    """Seconds per step, and the energies; a first step has compiled the loops."""
    wave.simulate(np, size, 2)
    start = time.perf_counter()
    _, energies = wave.simulate(np, size, TIMED_STEPS)
    return (time.perf_counter() - start) / TIMED_STEPS, energies


def print_movement(folder: Path) -> None:
    """Move an array from rows to tiles and back, and draw the same in small."""
    rows, tiles = "block, * @ 4x1", "cyclic(64), cyclic(64) @ 2x2"
    plan = pt.plan(pt.Layout(LARGE, rows), pt.Layout(LARGE, tiles))
    seconds = max(pt.spmd(moved, N_RANKS, (plan,)))
    n_mib = LARGE[0] * LARGE[1] * 8 >> 20
    print(
        f"Another library wants tiles of 64x64. {n_mib} MiB go there in {seconds * 1e3:.1f} ms, and"
    )
    print("by the same plan reversed every element comes back. In small, a letter for each rank:\n")
    small = pt.Layout(SMALL, "block, * @ 4x1"), pt.Layout(SMALL, "cyclic(2), cyclic(4) @ 2x2")
    pictures = {"source": small[0], "target": small[1], "plan": pt.plan(*small)}
    print(pictures["target"])
    for name, one in pictures.items():
        (folder / f"{name}.svg").write_text(one.draw())
    print(f"\ndrawn in {', '.join(f'{folder}/{name}.svg' for name in pictures)}")


def moved(team: pt.Team, plan: pt.Plan) -> float:
    """Move an array there and back; the best of five times of the way there."""
    local = numpy.random.default_rng(team.rank).random(plan.source.local_shape(team.rank))
    out = plan.apply(local, team)
    numpy.testing.assert_array_equal(plan.adjoint().apply(out, team), local)
    times = []
    for _ in range(5):
        team.barrier()
        start = time.perf_counter()
        plan.apply(local, team, out=out)
        times.append(time.perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=Path())
    parser.add_argument("--size", type=int, default=SIZE)
    main(**vars(parser.parse_args()))
