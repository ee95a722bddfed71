"""Work for which the system has no memory left raises MemoryError, and the process goes on."""

from __future__ import annotations

import subprocess
import sys

import pytest

SOURCE = """
import resource
import partita as np

rng = np.random.default_rng(1)
row = rng.random(3_000_000)
numbers = (row * 1000).astype(np.int64)
matrix = rng.random((600, 600)) + 600 * np.eye(600)
np.compute(row, numbers, matrix)
WORKS = {
    "argsort": lambda: np.argsort(row),
    "unique": lambda: np.unique(row, return_inverse=True)[0],
    "lexsort": lambda: np.lexsort((row, numbers)),
    "fft": lambda: np.fft.fft(row),
    "fft of a prime": lambda: np.fft.fft(row[:2_999_999]),
    "rfft": lambda: np.fft.rfft(row),
    "bincount": lambda: np.bincount(numbers),
    "matmul": lambda: matrix @ matrix,
    "solve": lambda: np.linalg.solve(matrix, matrix[0]),
    "inv": lambda: np.linalg.inv(matrix),
    "cholesky": lambda: np.linalg.cholesky(matrix + matrix.T),
    "qr": lambda: np.linalg.qr(matrix)[1],
    "svd": lambda: np.linalg.svdvals(matrix[:200, :200]),
    "eigh": lambda: np.linalg.eigvalsh(matrix[:200, :200]),
    "sort": lambda: np.sort(row),
}
most = resource.getrlimit(resource.RLIMIT_AS)
refused = set()
for room in (30, 40):
    for name, work in WORKS.items():
        lines = open("/proc/self/status").read().splitlines()
        size = next(int(line.split()[1]) for line in lines if line.startswith("VmSize")) * 1024
        resource.setrlimit(resource.RLIMIT_AS, (size + room * 2**20, most[1]))
        try:
            work().sync()
        except MemoryError as error:
            refused.add(name)
        finally:
            resource.setrlimit(resource.RLIMIT_AS, most)
assert {"argsort", "fft", "qr"} <= refused, refused
for work in WORKS.values():
    work().sync()
print("alive")
"""


@pytest.mark.timeout(180)
def test_memory_that_is_not_there_is_an_error() -> None:
    run = [sys.executable, "-c", SOURCE]
    done = subprocess.run(run, capture_output=True, text=True, timeout=150, check=False)
    assert done.stdout == "alive\n", done.stderr[-2000:]
