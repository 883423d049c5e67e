"""A task around launchers: its run directory and the info files that tell of its nodes."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from kept_port import kept_port


class Task:
    """One node of a task; `launch` runs a launcher in it as the entrypoint would be run."""

    def __init__(self, run_dir: Path) -> None:
        self.run_dir = run_dir
        self.extra: dict[str, str] = {}
        self.be()

    def be(
        self,
        slots: Sequence[int] = (2,),
        node: int = 0,
        config: dict[str, Any] | None = None,
        addresses: Sequence[str] | None = None,
    ) -> "Task":
        """Node `node` of one container per entry of `slots`."""
        info = self.run_dir / "info"
        info.mkdir(mode=0o700, parents=True, exist_ok=True)
        files = {
            "cluster": {
                "master_url": "http://127.0.0.1:1", "cluster_id": "c", "agent_id": "a", "task_id": "1.t",
                "slot_ids": list(range(slots[node])), "allocation_id": "1.t.1", "session_token": "s",
                "task_type": "TRIAL",
            },
            "trial": {"trial_id": 1, "experiment_id": 1, "trial_seed": 0, "hparams": {}, "config": config or {}},
            "rendezvous": {
                "container_addrs": addresses or [f"127.0.0.{n + 1}" for n in range(len(slots))], "container_rank": node,
                "container_slot_counts": list(slots),
            },
        }  # fmt: skip
        for name, content in files.items():
            (info / f"{name}.json").write_text(json.dumps(content))
        return self

    @property
    def environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("DET_", "C10D_", "OMP_"))}
        return kept | {"DET_RUN_DIR": str(self.run_dir), "PYTHONUNBUFFERED": "1"} | self.extra

    @property
    def failure(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.run_dir / "failure.json").read_text())
        return found

    def start(self, launcher: str, *words: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", f"determined.launch.{launcher}", *words]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            command, stdout=pipe, stderr=pipe, text=True, env=self.environment, start_new_session=True
        )

    def launch(self, launcher: str, *words: str, seconds: float = 120) -> "subprocess.CompletedProcess[str]":
        with self.start(launcher, *words) as child:
            out, err = child.communicate(timeout=seconds)
        return subprocess.CompletedProcess(words, child.returncode, out, err)


@pytest.fixture
def task(tmp_path: Path) -> Iterator[Task]:
    made = Task(tmp_path / "run")
    # Not the first port of every master: others of this machine may be using it. Kept, so that nobody else is given it.
    with kept_port() as port:
        made.extra["C10D_PORT"] = str(port)
        yield made
