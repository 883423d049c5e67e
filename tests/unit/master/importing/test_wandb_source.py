"""Logs of real W&B runs (tracker_stores of tests/integration/importing) become experiments."""

import math
import shutil
import struct
import zlib
from pathlib import Path

import pytest

from determined.errors import InvalidArgument
from determined.master.importing.sources.wandb.framing import LogFile
from determined.master.importing.sources.wandb.mapping import WandbSource
from determined.master.importing.sources.wandb.records import DamagedRecord, decode
from determined.master.importing.tracked import TrackedExperiment
from determined.master.lifecycle.states import State

STORE = Path(__file__).parents[3] / "integration" / "importing" / "tracker_stores" / "wandb"
HEADER = struct.pack("<4sHB", b":W&B", 0xBEE1, 0)


@pytest.fixture
def experiments() -> list[TrackedExperiment]:
    return list(WandbSource(str(STORE)).experiments())


def one_run(directory: Path, content: bytes) -> TrackedExperiment:
    (directory / "offline-run-1-one").mkdir()
    (directory / "offline-run-1-one" / "run-one.wandb").write_bytes(content)
    (experiment,) = WandbSource(str(directory)).experiments()
    return experiment


def content_of(name: str) -> bytes:
    return next(STORE.rglob(f"run-{name}.wandb")).read_bytes()


def test_a_run_is_an_experiment_and_a_sweep_is_one(experiments: list[TrackedExperiment]) -> None:
    assert [(e.external_id, e.name, e.project) for e in experiments] == [
        ("vision/one", "run one", "vision"),
        ("vision/sweep/sweep1", "sweep sweep1", "vision"),
    ]
    assert [trial.state for trial in experiments[1].trials] == [State.ERROR, State.COMPLETED]
    assert [e.state for e in experiments] == [State.COMPLETED, State.COMPLETED]
    assert experiments[0].labels == ["small"]


def test_a_store_is_the_same_by_each_of_its_names(tmp_path: Path) -> None:
    shutil.copytree(STORE, tmp_path / "script")
    run = next((tmp_path / "script").rglob("run-one.wandb")).parent
    names = (tmp_path / "script", tmp_path / "script" / "wandb", run)
    assert {WandbSource(str(name)).identity for name in names} == {str(tmp_path / "script" / "wandb")}
    assert WandbSource(str(run)).address == str(run)


def test_config_and_summary_are_kept(experiments: list[TrackedExperiment]) -> None:
    (trial,) = experiments[0].trials
    assert trial.hparams == {"lr": 0.1, "model": {"depth": 3}, "sizes": [1, 2]}
    summary = dict(trial.metadata["summary"])
    assert math.isnan(summary.pop("bad"))
    assert summary == {"loss": 0.1, "val/acc": 0.75, "deep": {"a": 3}, "best": 0.1}
    assert trial.started_at is not None
    assert trial.ended_at is not None
    assert trial.started_at < trial.ended_at


def test_history_is_by_group_and_step(experiments: list[TrackedExperiment]) -> None:
    reports = [report for report in experiments[0].trials[0].reports() if report.group == "training"]
    assert [report.step for report in reports] == [0, 1, 2, 3, 4]
    assert {name: reports[1].metrics[name] for name in ("loss", "deep.a")} == {"loss": 0.5, "deep.a": 1}
    validations = [report for report in experiments[0].trials[0].reports() if report.group == "validation"]
    assert [(report.step, report.metrics) for report in validations] == [(n, {"val/acc": n / 4}) for n in range(4)]
    assert (experiments[0].metric, experiments[0].smaller_is_better) == ("val/acc", False)
    assert math.isnan(reports[1].metrics["bad"])
    assert all(report.time is not None for report in reports)


def test_media_are_counted_and_left_out(experiments: list[TrackedExperiment]) -> None:
    *_, last = (report for report in experiments[0].trials[0].reports() if report.group == "training")
    assert last.metrics == {"loss": 0.1}
    assert [(note.rule.name, note.example) for note in experiments[0].findings] == [("wandb_media", "run one: 1")]


def test_system_statistics_are_numbered_by_seconds(experiments: list[TrackedExperiment]) -> None:
    reports = [report for report in experiments[0].trials[0].reports() if report.group == "system"]
    assert [report.step for report in reports] == [0, 1, 1, 2]
    assert reports[0].metrics["proc.cpu.threads"] == 4


def test_output_is_the_log(experiments: list[TrackedExperiment]) -> None:
    (line,) = experiments[0].trials[0].logs()
    assert line.text == "one has ended"
    assert line.time is not None


def test_a_log_that_is_cut_off_gives_what_it_has(tmp_path: Path) -> None:
    whole = content_of("one")
    for count in range(0, len(whole), 97):
        directory = tmp_path / str(count)
        directory.mkdir()
        experiment = one_run(directory, whole[:count])
        assert experiment.state == State.CANCELED
        assert "wandb_unended" in {note.rule.name for note in experiment.findings}
        list(experiment.trials[0].reports())


def test_damage_in_the_middle_is_named(tmp_path: Path) -> None:
    whole = bytearray(content_of("one"))
    whole[2500] ^= 0xFF
    experiment = one_run(tmp_path, bytes(whole))
    assert "wandb_damaged" in {note.rule.name for note in experiment.findings}
    assert experiment.trials[0].hparams["lr"] == 0.1
    assert list(experiment.trials[0].reports())


def test_a_file_that_is_no_log_is_named(tmp_path: Path) -> None:
    experiment = one_run(tmp_path, b"something else")
    assert experiment.trials[0].external_id == "uncategorized/one"
    assert [note.rule.name for note in experiment.findings] == ["wandb_unended", "wandb_damaged"]


def test_a_resumed_run_is_one_trial(tmp_path: Path) -> None:
    for day, end in (("1", -40), ("2", None)):
        (tmp_path / f"run-{day}-one").mkdir()
        (tmp_path / f"run-{day}-one" / "run-one.wandb").write_bytes(content_of("one")[:end])
    (experiment,) = WandbSource(str(tmp_path)).experiments()
    assert len(experiment.trials) == 1
    assert experiment.state == State.COMPLETED


def test_the_parent_the_directory_and_one_run_can_be_named(tmp_path: Path) -> None:
    run = next(STORE.rglob("run-one.wandb")).parent
    shutil.copytree(run, tmp_path / "wandb" / run.name)
    for source in (tmp_path, tmp_path / "wandb", tmp_path / "wandb" / run.name):
        assert len(list(WandbSource(str(source)).experiments())) == 1


def test_a_directory_without_logs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="wandb"):
        list(WandbSource(str(tmp_path)).experiments())


def framed(message: bytes) -> bytes:
    """Return a file with one message, split as W&B splits it over blocks."""
    content, first = bytearray(HEADER), True
    while True:
        room = 32768 - len(content) % 32768 - 7
        part, message = message[:room], message[room:]
        kind = bytes([(2 if message else 1) if first else (3 if message else 4)])
        content += struct.pack("<IH", zlib.crc32(kind + part), len(part)) + kind + part
        first = False
        if not message:
            return bytes(content)


@pytest.mark.parametrize("size", [0, 10, 32754, 32755, 70000, 200000])
def test_messages_over_several_blocks_are_joined(tmp_path: Path, size: int) -> None:
    message = bytes(number % 251 for number in range(size))
    (tmp_path / "log").write_bytes(framed(message))
    log = LogFile(tmp_path / "log")
    assert list(log.messages()) == [message]
    assert log.damage == []


def test_parts_around_a_damaged_block_are_not_joined(tmp_path: Path) -> None:
    content = bytearray(framed(bytes(100000)))
    content[40000] ^= 0xFF
    (tmp_path / "log").write_bytes(content)
    log = LogFile(tmp_path / "log")
    assert list(log.messages()) == []
    assert len(log.damage) == 1


@pytest.mark.parametrize("data", [b"\x0a\x05ab", b"\x08", b"\x0b", b"\x08" + b"\xff" * 11])
def test_what_is_no_protobuf_is_refused(data: bytes) -> None:
    with pytest.raises(DamagedRecord):
        decode(data)
