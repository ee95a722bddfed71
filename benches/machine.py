"""What the figures were taken on, without the machine's name."""

import importlib.util
import os
import platform
import subprocess
import time
from importlib.metadata import version
from pathlib import Path


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def _cache(level: int) -> str:
    size = Path(f"/sys/devices/system/cpu/cpu0/cache/index{level}/size")
    return size.read_text().strip() if size.exists() else "unknown"


def _huge_pages() -> str:
    choice = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    text = choice.read_text() if choice.exists() else "[unknown]"
    return text.split("[")[1].split("]")[0]


def _rust() -> str:
    done = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=False)
    return done.stdout.split()[1] if done.returncode == 0 else "unknown"


def _ticks() -> tuple[int, int]:
    """Ticks of all cores together since the start: all, and idle ones."""
    numbers = Path("/proc/stat").read_text().splitlines()[0].split()[1:9]
    ticks = [int(number) for number in numbers]
    return sum(ticks), ticks[3] + ticks[4]


def _busy_cores() -> float:
    """How many cores others keep busy while this process sleeps."""
    before = _ticks()
    time.sleep(2)
    everything, idle = (b - a for a, b in zip(before, _ticks(), strict=True))
    return (os.cpu_count() or 1) * (1 - idle / everything)


def facts() -> dict[str, str]:
    """Name and value of everything that bears on the figures."""
    packages = [name for name in ("numpy", "numba") if importlib.util.find_spec(name)]
    return {
        "processor": processor(),
        "cores": str(os.cpu_count()),
        "caches": f"L2 {_cache(2)}, L3 {_cache(3)}",
        "memory": f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.0f} GiB",
        "huge pages": _huge_pages(),
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
        "Rust": _rust(),
        "Python": platform.python_version(),
        **{name: version(name) for name in packages},
        "cores busy with other work, before the run": f"{_busy_cores():.1f}",
    }
