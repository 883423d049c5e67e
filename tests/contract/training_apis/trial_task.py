"""Run one trial of a rig: each run is a process of its own, with a run directory, a runner that acknowledges, and a
master that hands out the searcher's operations, as on a cluster.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rigs import LENGTH, VALIDATION_PERIOD, Rig
from task_around import FakeMaster, FakeRunner, Operations, write_task_info

from determined.rundir.layout import RunDir
from determined.wire.report import CheckpointReport, MetricReport

_QUIET = {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "2", "HF_HUB_OFFLINE": "1"}

Metrics = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """Result of one process of a trial."""

    status: int
    output: str  # standard output and error
    records: list[Any] = field(default_factory=list)
    operations: list[tuple[int, Any]] = field(default_factory=list)  # completed: length, searcher metric

    @property
    def checkpoints(self) -> list[CheckpointReport]:
        return self.of(CheckpointReport)

    def metrics(self, group: str) -> dict[int, Metrics]:
        """Metrics by the batches they were reported at."""
        merged: dict[int, Metrics] = {}
        for report in self.of(MetricReport):
            if report.group == group:
                merged.setdefault(report.steps, {}).update(report.metrics)
        return merged

    def of(self, kind: type) -> list[Any]:
        return [record for record in self.records if isinstance(record, kind)]


class Programs:
    """A process that has imported a rig's framework, and runs programs in children."""

    def __init__(self, rig: Rig) -> None:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("DET_")}
        python, *modules = rig.imports
        path = f"{rig.python.parent}{os.pathsep}{os.environ['PATH']}"
        self._process = subprocess.Popen(
            [python, str(Path(__file__).with_name("preloaded.py")), *modules],
            env={**inherited, **_QUIET, **rig.environment, "PATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._answer() == "ready"

    def run(self, **job: Any) -> int:
        """Run the program of a job, as `preloaded.py` takes it; its exit status."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        return int(self._answer())

    def close(self) -> None:
        self._process.communicate()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if not line.startswith(("[", "\n")):
                return line.strip()
        raise AssertionError("the process that runs programs is gone")


class TrialTask:
    """A trial with a checkpoint storage and a copy of the rig's code; its runs follow one another."""

    def __init__(self, rig: Rig, programs: "Programs", place: Path) -> None:
        self._rig = rig
        self._programs = programs
        self._place = place
        self.storage = place / "checkpoints"
        shutil.copytree(rig.directory, place / "model")
        for file in rig.also:
            shutil.copy(file, place / "model")
        self._count = 0
        self._validated: list[int] = []

    def run(
        self,
        *,
        entrypoint: str | None = None,
        lengths: Sequence[int] = (LENGTH,),
        hparams: Mapping[str, Any] | None = None,
        metric: str | None = None,
        pauses: bool = False,
        latest: CheckpointReport | None = None,
    ) -> Run:
        """Train in a process. `pauses`: the cluster wants its slots back after the first training metrics."""
        self._count += 1
        run_dir = RunDir(self._place / f"run-{self._count}")
        run_dir.create()
        master, runner = FakeMaster(), FakeRunner(run_dir)
        try:
            operations = Operations(master, *lengths)
            master.routes["GET", "/api/v1/trials/7"] = {"trial": {"latestValidation": self._latest_validation()}}
            config = self._config(metric or self._rig.metric, hparams)
            write_task_info(run_dir, master.url, config, hparams=config["hyperparameters"],
                            latest_checkpoint=latest.uuid if latest else None,
                            steps_completed=latest.steps if latest else 0)  # fmt: skip
            arguments = self._rig.arguments(entrypoint)
            status, output = self._run(arguments, pauses=pauses, DET_RUN_DIR=str(run_dir.path))
        finally:
            runner.close()
            master.close()
        run = Run(status, output, runner.records, operations.completed)
        self._validated += run.metrics("validation")
        return run

    def run_one_batch(self) -> Run:
        """Try the trial class off cluster, as `det experiment create --local --test` does."""
        config = self._place / "config.json"
        config.write_text(json.dumps(self._config(self._rig.metric, None)))
        return Run(*self._run(["-m", "determined.exec.one_batch", self._rig.entrypoint, str(config)]))

    def _run(self, arguments: list[str], *, pauses: bool = False, **variables: str) -> tuple[int, str]:
        output = self._place / f"output-{self._count}"
        own = {"XDG_DATA_HOME": str(self._place / "data"), "DET_RETRY_CONFIG": '{"total": 0}', **variables}
        status = self._programs.run(
            arguments=arguments, directory=str(self._place / "model"), output=str(output), variables=own, pauses=pauses
        )
        return status, output.read_text()

    def _latest_validation(self) -> dict[str, int] | None:
        return {"totalBatches": max(self._validated)} if self._validated else None

    def _config(self, metric: str, hparams: Mapping[str, Any] | None) -> dict[str, Any]:
        return {
            "searcher": {"name": "single", "metric": metric, "max_length": {"batches": LENGTH}},
            "hyperparameters": {"global_batch_size": 4, "lr": 0.1, **(hparams or {})},
            "checkpoint_storage": {"type": "directory", "container_path": str(self.storage)},
            "min_validation_period": {"batches": VALIDATION_PERIOD},
            "scheduling_unit": 2,
            "resources": {"slots_per_trial": 1},
        }
