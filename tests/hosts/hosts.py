"""Hosts of their own on one machine: what MPI and partita see is several computers.

A host is a process that keeps namespaces: network, host name, processes, IPC and mounts, with its
own `/proc`, `/sys`, `/dev/shm` and `/etc/hosts`. One more, the *head*, holds two bridges, and the
launcher runs there:

- `ctl`, 10.77.1.0/24: the launcher and its proxies;
- `data`, 10.77.2.0/24: the ranks. Its links can be slowed, and cut while the launcher goes on.

No device, address or name appears outside. The head's first process reads a pipe that this process
holds. When this process ends, however it does, the pipe closes, the head ends, and the system ends
all that runs in it and in the hosts, which were made in it; the networks go with them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

NAMES = ("alpha", "beta", "gamma")
HEAD = "head"

# Stands in for ssh.
ENTER = str(Path(__file__).parent / "enter")

# What a keeper does first. The pipe at its input ends when the tests end.
KEEP = """
set -e
hostname {name}
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /dev/shm
printf '{names}' > /dev/shm/hosts
mount --bind /dev/shm/hosts /etc/hosts
{boot}
mount -t tmpfs tmpfs /dev/shm
ip link set lo up
echo ready
read line
"""
# Computers differ in this; containers of one computer do not.
OWN_BOOT = """
echo 00000000-0000-4000-8000-{number:012} > /dev/shm/boot
mount --bind /dev/shm/boot /proc/sys/kernel/random/boot_id
"""

# Nobody listens there: a host that is reached refuses at once.
REACHES = """
import socket, time
end = time.monotonic() + 10
while time.monotonic() < end:
    try:
        socket.create_connection(("{address}", 9), timeout=1).close()
    except ConnectionRefusedError:
        break
    except OSError:
        time.sleep(0.02)
else:
    raise SystemExit("{address} is not reached")
"""

# The slowed link: what the kernel may have, the better first.
SLOWER = {
    "netem": "netem delay 200us rate 400mbit",
    "tbf": "tbf rate 400mbit burst 128kb latency 100ms",
}


def missing() -> str:
    """Why there can be no hosts here; empty if there can."""
    if not sys.platform.startswith("linux"):
        return "namespaces are Linux's"
    if os.geteuid() != 0:
        return "only root may make namespaces"
    for program in ("unshare", "nsenter", "ip", "tc"):
        if shutil.which(program) is None:
            return f"there is no `{program}` here; `apt-get install iproute2 util-linux` brings it"
    try:
        Hosts(1).end()
    except OSError as error:
        return f"the system refuses namespaces: {error}"
    return ""


def do(command: list[str]) -> str:
    """A command that must succeed; what it says."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    if done.returncode != 0:
        raise OSError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


class Keeper:
    """Namespaces, and the process that keeps them."""

    def __init__(self, name: str, inside: Keeper | None = None, boot: str = "") -> None:
        self.name = name
        names = [f"10.77.1.{at} {other}" for at, other in addresses()]
        script = KEEP.format(
            name=name, names="\\n".join(["127.0.0.1 localhost", *names, ""]), boot=boot
        )
        made = ["unshare", "--net", "--uts", "--ipc", "--pid", "--mount-proc", "--fork"]
        made += ["--kill-child", "sh", "-c", script]
        self.process = subprocess.Popen(
            # Who makes namespaces of processes must itself be inside, so this one forks.
            made if inside is None else inside.enter(*made, forks=True),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        if pipe(self.process.stdout).readline() != "ready\n":
            self.end()
            raise OSError(f"{name}: {self.said}")
        parent = self.process.pid if inside is None else only_child(self.process.pid)
        self.numbers = numbers_of(only_child(parent))

    @property
    def pid(self) -> int:
        """The number of the first process inside, as it is numbered outside."""
        return self.numbers[0]

    @property
    def number_in_head(self) -> int:
        return self.numbers[-2]

    def enter(self, *command: str, forks: bool = False) -> list[str]:
        """The command that runs another one there.

        Unless it forks it keeps its own number outside, so that signals arrive; its children are
        inside.
        """
        namespaces = ["--mount", "--uts", "--ipc", "--net", "--pid"]
        where = ["--target", str(self.pid), "--root", f"--wd={os.getcwd()}"]
        how = [] if forks else ["--no-fork"]
        return ["nsenter", *where, *namespaces, *how, *command]

    def path(self, name: str) -> Path:
        """A folder as it is there."""
        return Path(f"/proc/{self.pid}/root") / name

    def do(self, command: str) -> str:
        return do(self.enter(*command.split()))

    def end(self) -> None:
        """Close the pipe, and wait for the end."""
        if pipe(self.process.stdin).closed:
            return
        pipe(self.process.stdin).close()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.said = pipe(self.process.stderr).read().strip()
        pipe(self.process.stdout).close()
        pipe(self.process.stderr).close()


class Hosts:
    """Some hosts and their networks; `end` removes all of them."""

    def __init__(self, n_hosts: int, *, own_boots: bool = False) -> None:
        self.head = Keeper(HEAD)
        self.all: list[Keeper] = []
        try:
            for bridge in ("ctl", "data"):
                self.head.do(f"ip link add {bridge} type bridge")
                self.head.do(f"ip link set {bridge} up")
            self.head.do("ip address add 10.77.1.100/24 dev ctl")
            for at, name in addresses()[:n_hosts]:
                boot = OWN_BOOT.format(number=at) if own_boots else ""
                host = Keeper(name, self.head, boot)
                self.all.append(host)
                self._connect(host, at)
        except BaseException:
            self.end()
            raise

    def _connect(self, host: Keeper, at: int) -> None:
        for net, device in ((1, "ctl"), (2, "data")):
            port = link(device, host.name)
            peer = f"peer name {device} netns {host.pid}"
            self.head.do(f"ip link add {port} type veth {peer}")
            self.head.do(f"ip link set {port} master {device} up")
            host.do(f"ip address add 10.77.{net}.{at}/24 dev {device}")
            host.do(f"ip link set {device} up")

    def slow(self) -> str:
        """Slow the data links; says by what, or why not."""
        refusals = []
        for kind, words in SLOWER.items():
            try:
                for host in self.all:
                    self.head.do(f"tc qdisc replace dev {link('data', host.name)} root {words}")
                return f"slowed by {words}"
            except OSError as error:
                refusals.append(f"no {kind} ({error})")
        return "not slowed: " + ", ".join(refusals)

    def cut(self, host: Keeper) -> None:
        """Take a host's data link away."""
        self.head.do(f"ip link set {link('data', host.name)} down")

    def heal(self, host: Keeper) -> None:
        """Bring it back, and wait until the others reach it: the bridge takes up to a second."""
        self.head.do(f"ip link set {link('data', host.name)} up")
        address = next(f"10.77.2.{at}" for at, name in addresses() if name == host.name)
        for other in self.all:
            if other is not host:
                do(other.enter(sys.executable, "-c", REACHES.format(address=address), forks=True))

    def launcher(self, mpiexec: Sequence[str], n_per_host: int) -> list[str]:
        """The command that starts ranks across the hosts, so many on each in turn."""
        places = ",".join(f"{host.name}:{n_per_host}" for host in self.all)
        there = ["-launcher", "ssh", "-launcher-exec", ENTER, "-hosts", places]
        return self.head.enter(*mpiexec, *there)

    def variables(self) -> dict[str, str]:
        """What the launcher and its ranks need to know."""
        kept = " ".join(f"{host.name}={host.number_in_head}" for host in self.all)
        return {"PARTITA_HOSTS": kept, "UCX_NET_DEVICES": "data", "FI_TCP_IFACE": "data"}

    def processes(self) -> list[str]:
        """Processes on the hosts, without those that keep them."""
        found = []
        for host in self.all:
            for folder in host.path("proc").iterdir():
                # Those that have ended and that nobody has asked how have no words.
                if folder.name.isdigit() and folder.name != "1" and (words := words_of(folder)):
                    found.append(f"{host.name}: {folder.name} {words}")
        return found

    def shared_files(self) -> list[str]:
        """Files in the shared memory of the hosts."""
        files = [(host.name, path) for host in self.all for path in host.path("dev/shm").iterdir()]
        return [f"{name}: {path.name}" for name, path in files]

    def end(self) -> None:
        """Remove everything."""
        for keeper in [*self.all, self.head]:
            keeper.end()


def addresses() -> list[tuple[int, str]]:
    """The last number of each address, the head's last."""
    return [*((at + 1, name) for at, name in enumerate(NAMES)), (100, HEAD)]


def link(device: str, host: str) -> str:
    """The head's end of a host's cable."""
    return f"{device}-{host}"


def pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def only_child(parent: int) -> int:
    """The child of a process that has one."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and status_of(int(folder.name)).get("PPid") == [parent]:
            return int(folder.name)
    raise OSError(f"process {parent} has no child")


def numbers_of(pid: int) -> list[int]:
    """A process's numbers, from the outermost namespace that is seen here to its own."""
    return status_of(pid).get("NSpid", [pid])


def status_of(pid: int) -> dict[str, list[int]]:
    """The numbers in a process's status, by name."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return {}
    pairs = [line.split(":", 1) for line in lines if ":" in line]
    wanted = {name: words.split() for name, words in pairs if name in ("PPid", "NSpid")}
    return {name: [int(word) for word in words] for name, words in wanted.items()}


def words_of(folder: Path) -> str:
    """The command of a process."""
    try:
        return (folder / "cmdline").read_bytes().replace(bytes(1), b" ").decode(errors="replace")
    except OSError:
        return ""
