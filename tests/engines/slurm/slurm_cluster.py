"""A real Slurm on this machine: munged, slurmctld and several slurmd, each a node with a port and fake GPUs of its own.

Every daemon is a child of this process and is ended by its pid.
"""

import contextlib
import os
import pwd
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil

NEEDED = ("munged", "slurmctld", "slurmd", "sbatch")
_UP_SECONDS = 30.0


class SlurmCluster:
    """`gpus` fake GPUs and 8 CPUs on each of `nodes` nodes.

    Partitions: `main` and `urgent` (which preempts it) of all nodes, `small` of the first alone, `shut`, which is down.
    """

    PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"

    def __init__(self, place: Path, *, nodes: int = 3, gpus: int = 2) -> None:
        self._place = place
        self._gpus = gpus
        self.nodes = [f"n{number}" for number in range(1, nodes + 1)]
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def conf(self) -> Path:
        return self._place / "slurm.conf"

    def start(self) -> None:
        (self._place / "spool").mkdir(parents=True)
        self._make_gpus()
        self._start_munge()
        self.conf.write_text(self._conf())
        (self._place / "gres.conf").write_text(f"Name=gpu File={self._place}/nvidia[0-{self._gpus - 1}]\n")
        self.start_controller()
        for node in self.nodes:
            self.start_node(node)
        _until(lambda: self._are_idle(self.nodes), "the nodes did not come up", self.logs)

    def stop(self) -> None:
        """Everything, by pid; what a job left behind first."""
        with contextlib.suppress(subprocess.SubprocessError, AssertionError):
            self.clear()
        left = _family(self.steps())
        for name in list(self._daemons):
            self._end(name, signal.SIGTERM if name == "munged" else signal.SIGKILL)
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.kill()

    def clear(self) -> None:
        """End every job, and bring back lost nodes."""
        self.command("scancel", "-u", pwd.getpwuid(os.geteuid()).pw_name)
        for node in self.nodes:
            if node not in self._daemons:
                self.bring_back(node)
        _until(lambda: not self.command("squeue", "-h"), "jobs do not end", self.logs)
        _until(lambda: self._are_idle(self.nodes), "the nodes are not idle", self.logs)

    def start_controller(self) -> None:
        self._spawn("slurmctld", "slurmctld", "-D", "-f", str(self.conf))
        _until(self._answers, "slurmctld does not answer", self.logs)

    def stop_controller(self) -> None:
        """In good order: killed, it forgets the jobs of the last seconds, which is Slurm's own loss."""
        self._end("slurmctld", signal.SIGTERM)

    def start_node(self, node: str) -> None:
        self._spawn(node, "slurmd", "-D", "-N", node, "-f", str(self.conf))

    def lose_node(self, node: str) -> None:
        """Kill a node's slurmd and everything that runs on it at once, as a power cut."""
        family = _family([*self.steps(node)])
        self._end(node, signal.SIGKILL)
        for process in family:
            with contextlib.suppress(psutil.Error):
                process.kill()

    def bring_back(self, node: str) -> None:
        self._set_state(node, "DOWN")  # or Slurm waits for a job that was ending there when the node was lost
        self.start_node(node)
        self._set_state(node, "RESUME")
        _until(lambda: self._are_idle([node]), f"{node} does not come back", self.logs)

    def _set_state(self, node: str, state: str) -> None:
        """Slurm refuses what is so already."""
        with contextlib.suppress(subprocess.CalledProcessError):
            self.command("scontrol", "update", f"NodeName={node}", f"State={state}", "Reason=lost")

    def steps(self, node: str | None = None) -> list[psutil.Process]:
        """The slurmstepds of this cluster: what every job's processes descend from. Each has its node's log open."""
        logs = {str(self._place / f"{name}.log") for name in ([node] if node else self.nodes)}
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.name() == "slurmstepd" and logs & {file.path for file in process.open_files()}:
                    found.append(process)
        return found

    def command(self, *words: str) -> str:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=30, check=True, env={**os.environ, **self.environment()}
        )
        return done.stdout.strip()

    def environment(self) -> dict[str, str]:
        """Return what a master of this cluster starts with."""
        return {"SLURM_CONF": str(self.conf), "PATH": self.PATH}

    def logs(self) -> str:
        texts = (f"{path.name}:\n{path.read_text(errors='replace')[-1500:]}" for path in self._place.glob("*.log"))
        return "\n".join(texts)

    def _spawn(self, name: str, *command: str) -> None:
        program = shutil.which(command[0], path=self.PATH)
        assert program is not None, f"{command[0]} is not installed; run scripts/install_slurm.sh"
        environment = {**os.environ, **self.environment()}
        with (self._place / f"{name}.out.log").open("ab") as log:
            self._daemons[name] = subprocess.Popen(
                [program, *command[1:]],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,
            )

    def _end(self, name: str, number: signal.Signals) -> None:
        daemon = self._daemons.pop(name)
        daemon.send_signal(number)
        daemon.wait(timeout=20)

    def _start_munge(self) -> None:
        key = self._place / "munge.key"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o400)
        self._place.chmod(0o755)
        files = ("socket", "pid-file", "log-file", "seed-file")
        options = [f"--{name}={self._place}/munged.{name.split('-')[0]}" for name in files]
        self._spawn("munged", "munged", "--foreground", "--force", f"--key-file={key}", *options)
        _until((self._place / "munged.socket").exists, "munged does not come up", self.logs)

    def _make_gpus(self) -> None:
        """Slurm sets CUDA_VISIBLE_DEVICES only for character devices."""
        for number in range(self._gpus):
            os.mknod(self._place / f"nvidia{number}", 0o666 | stat.S_IFCHR, os.makedev(195, number))

    def _conf(self) -> str:
        ports = [_free_port() for _ in range(len(self.nodes) + 1)]
        host = socket.gethostname().split(".")[0]
        user = pwd.getpwuid(os.geteuid()).pw_name
        every = ",".join(self.nodes)
        lines = [
            f"ClusterName=det{secrets.token_hex(3)}",
            f"SlurmctldHost={host}(127.0.0.1)",
            f"SlurmctldPort={ports[0]}",
            f"SlurmUser={user}",
            f"SlurmdUser={user}",
            f"StateSaveLocation={self._place}/state",
            f"SlurmdSpoolDir={self._place}/spool/%n",
            f"SlurmctldPidFile={self._place}/slurmctld.pid",
            f"SlurmdPidFile={self._place}/%n.pid",
            f"SlurmctldLogFile={self._place}/slurmctld.log",
            f"SlurmdLogFile={self._place}/%n.log",
            f"AuthInfo=socket={self._place}/munged.socket",
            "AuthType=auth/munge",
            "ProctrackType=proctrack/pgid",
            "TaskPlugin=task/none",
            "SelectType=select/cons_tres",
            "SelectTypeParameters=CR_CPU",
            "GresTypes=gpu",
            "SlurmdParameters=config_overrides",
            "SchedulerParameters=sched_interval=1,batch_sched_delay=0,bf_interval=1",
            "PreemptType=preempt/partition_prio",
            "PreemptMode=CANCEL",
            "SlurmdTimeout=8",
            "SlurmctldTimeout=10",
            "KillWait=5",
            "MinJobAge=60",
            "ReturnToService=2",
            "MpiDefault=none",
        ]
        lines += [
            f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port}"
            f" CPUs=8 RealMemory=2000 Gres=gpu:{self._gpus} State=UNKNOWN"
            for node, port in zip(self.nodes, ports[1:], strict=True)
        ]
        shared = f"Nodes={every} MaxTime=INFINITE"
        lines += [
            f"PartitionName=main {shared} Default=YES PriorityTier=1 GraceTime=20 State=UP",
            f"PartitionName=urgent {shared} PriorityTier=10 PreemptMode=OFF State=UP",
            f"PartitionName=small Nodes={self.nodes[0]} MaxTime=INFINITE PriorityTier=1 State=UP",
            f"PartitionName=shut {shared} State=DOWN",
        ]
        return "\n".join(lines) + "\n"

    def _answers(self) -> bool:
        try:
            return "UP" in self.command("scontrol", "ping")
        except subprocess.CalledProcessError:
            return False

    def _are_idle(self, nodes: list[str]) -> bool:
        states = self.command("sinfo", "-h", "-N", "-n", ",".join(nodes), "-o", "%T").split()
        return bool(states) and set(states) <= {"idle", "mixed"}


def _family(roots: list[psutil.Process]) -> list[psutil.Process]:
    """With every descendant; parents first, so that nobody starts anything new."""
    found = list(roots)
    for root in roots:
        with contextlib.suppress(psutil.Error):
            found += root.children(recursive=True)
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _until(
    condition: Callable[[], bool], problem: str, explain: Callable[[], str], *, seconds: float = _UP_SECONDS
) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"{problem}:\n{explain()}")
        time.sleep(0.05)
