"""A training that is killed again and again while it saves in the background: what it has reported can be restored,
and it ends as one that was left alone."""

import random
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch
from killed_training import PERIOD, train
from ranks import _SERVER
from task_around import FakeMaster, FakeRunner, write_task_info

from determined.rundir.layout import RunDir
from determined.storage.directory.manager import DirectoryStorageManager
from determined.trial import read_counters
from determined.wire.report import CheckpointReport

ENDLESS = 10**6
WAIT_SECONDS = 120.0
LATEST_KILL_SECONDS = 0.2  # after the first batch


@dataclass
class Training:
    """Trial 7 with a store of its own, as a master and a runner see it."""

    directory: Path
    master: FakeMaster
    run_dir: RunDir = field(init=False)
    runner: FakeRunner = field(init=False)

    def __post_init__(self) -> None:
        self.run_dir = RunDir(self.directory / "run")
        self.run_dir.create()
        self.runner = FakeRunner(self.run_dir)
        storage = {"type": "directory", "container_path": str(self.directory / "checkpoints")}
        config = {"searcher": {"name": "single", "metric": "x"}, "checkpoint_storage": storage}
        write_task_info(self.run_dir, self.master.url, config)
        self.store = DirectoryStorageManager(str(self.directory / "checkpoints"))

    def reported(self) -> list[CheckpointReport]:
        return [record for record in list(self.runner.records) if isinstance(record, CheckpointReport)]

    def run(self, batches: int, period: int, kill_after: float | None = None) -> None:
        """Train from the newest reported checkpoint to the end, or until it is killed."""
        reported, log = self.reported(), self.directory / "log"
        latest = reported[-1].uuid if reported else None
        receiving, sending = _SERVER.Pipe(duplex=False)
        arguments = (str(self.run_dir.path), batches, period, latest, sending, str(log))
        process = _SERVER.Process(target=train, args=arguments)
        process.start()
        sending.close()
        try:
            if kill_after is not None:
                assert receiving.poll(WAIT_SECONDS), log.read_text()
                receiving.recv()
                time.sleep(kill_after)
                process.kill()
            else:
                _drain(receiving)
        finally:
            if kill_after is None:
                process.join(WAIT_SECONDS)
            process.kill()
            process.join()
            receiving.close()
        assert kill_after is not None or process.exitcode == 0, log.read_text()

    def state(self, report: CheckpointReport) -> Any:
        """Restore a checkpoint, every file compared with its hash; what it holds."""
        place = self.directory / "restored"
        shutil.rmtree(place, ignore_errors=True)
        self.store.download(report.uuid, place)
        counters = read_counters(place)
        assert counters is not None and counters["batches_trained"] == report.steps
        return torch.load(place / "state_dict.pth", weights_only=False)


def _drain(receiving: Any) -> None:
    """Take what the training says until it ends."""
    try:
        while True:
            receiving.recv()
    except EOFError:
        return


@pytest.fixture
def master_of_trial(master: FakeMaster) -> FakeMaster:
    master.routes["GET", "/api/v1/trials/7"] = {"trial": {}}
    return master


def test_a_training_killed_while_it_saves_ends_as_one_left_alone(tmp_path: Path, master_of_trial: FakeMaster) -> None:
    _kill_often(tmp_path, master_of_trial, times=4)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_training_killed_at_two_hundred_moments_ends_as_one_left_alone(
    tmp_path: Path, master_of_trial: FakeMaster
) -> None:
    _kill_often(tmp_path, master_of_trial, times=200)


def _kill_often(directory: Path, master: FakeMaster, times: int) -> None:
    (directory / "killed").mkdir(), (directory / "alone").mkdir()
    killed, alone = Training(directory / "killed", master), Training(directory / "alone", master)
    try:
        moments, restored = random.Random(5), 0
        for _ in range(times):
            killed.run(ENDLESS, PERIOD, kill_after=moments.uniform(0.0, LATEST_KILL_SECONDS))
            restored = _check_new(killed, restored)
        end = max([report.steps for report in killed.reported()], default=0) + 2 * PERIOD + 1
        killed.run(end, PERIOD)
        alone.run(end, ENDLESS)
        ended, expected = killed.state(killed.reported()[-1]), alone.state(alone.reported()[-1])
        assert killed.reported()[-1].steps == alone.reported()[-1].steps == end
        assert _differences(ended, expected) == []
    finally:
        killed.runner.close(), alone.runner.close()


def _check_new(training: Training, checked: int) -> int:
    """Restore what was reported since; forget what is older, and what was staged: it would fill the disk."""
    reported = training.reported()
    for report in reported[checked:]:
        training.state(report)
    for report in reported[:-1]:
        training.store.delete(report.uuid, ["**/*"])
    training.store.sweep_staging(0.0, time.time() + 3600)
    return len(reported)


def _differences(one: Any, other: Any, place: str = "state") -> list[str]:
    """Return where two states are not the same to the last bit."""
    if isinstance(one, dict):
        return [found for key in one.keys() | other.keys()
                for found in _differences(one.get(key), other.get(key), f"{place}.{key}")]  # fmt: skip
    if isinstance(one, list | tuple) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return [found for number, pair in pairs for found in _differences(*pair, f"{place}[{number}]")]
    if isinstance(one, torch.Tensor):
        return [] if torch.equal(one, other) else [place]
    return [] if repr(one) == repr(other) else [place]
