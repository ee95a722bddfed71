"""Run a command several times and print each run's seconds and peak memory as JSON.

A process of its own, because Linux counts the memory of the process that starts a command towards
the command's peak: started from here that is a bare interpreter's.
"""

import json
import os
import sys
import time


def main() -> None:
    n_runs, *command = sys.argv[1:]
    runs = []
    for _ in range(int(n_runs)):
        start = time.perf_counter()
        into_nothing = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
        pid = os.posix_spawn(command[0], command, os.environ, file_actions=into_nothing)
        _, status, usage = os.wait4(pid, 0)
        seconds = time.perf_counter() - start
        if status != 0:
            raise SystemExit(f"{command}: status {status}")
        runs.append({"seconds": seconds, "peak_bytes": usage.ru_maxrss * 1024})
    print(json.dumps(runs))


main()
