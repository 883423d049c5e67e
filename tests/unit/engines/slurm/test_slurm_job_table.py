"""Jobs and their runners: ends are told once in a life, kept until they are on record, and told again in the next."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from determined.engines.model import Device, EngineEvent, GoneReason, Launch, RunnerGone
from determined.engines.slurm.job_table import JobTable
from determined.engines.slurm.poll_interval import PollInterval
from determined.engines.slurm.records import Record, Records
from determined.engines.slurm.script import check_arguments
from determined.errors import InvalidArgument, Unavailable


def launch(resource_id: str, rank: int = 0) -> Launch:
    return Launch("7.a.1", resource_id, "c", "main", rank, (0,), Device.CUDA, "http://m", "token", size=2)


@pytest.fixture
def records(tmp_path: Path) -> Records:
    records = Records(tmp_path / "slurm")
    records.open()
    return records


def told(table: JobTable) -> list[EngineEvent | None]:
    return [table.events.get_nowait() for _ in range(table.events.qsize())]


def ends(events: Iterable[EngineEvent | None]) -> list[tuple[str, GoneReason]]:
    return [(one.resource_id, one.reason) for one in events if isinstance(one, RunnerGone)]


async def test_end_of_a_job_is_told_once_for_each_of_its_runners(records: Records) -> None:
    table = JobTable(records)
    job = table.add(Record("7.a.1", "tag", [], job_id=17))
    assert [table.hold(job, launch(name)) for name in ("r0", "r1", "r0")] == [True, True, False]
    assert table.running() == ["r0", "r1"]
    await table.report_gone(job, GoneReason.EXITED, "done")
    await table.report_gone(job, GoneReason.LOST, "seen again")
    assert ends(told(table)) == [("r0", GoneReason.EXITED), ("r1", GoneReason.EXITED)]
    assert table.running() == []


async def test_end_that_was_not_put_on_record_is_told_by_the_next_life(records: Records) -> None:
    table = JobTable(records)
    job = table.add(Record("7.a.1", "tag", ["r0", "r1"], job_id=17))
    await table.report_gone(job, GoneReason.CANCELED, "scancel")
    await table.forget("r0")
    following = JobTable(records)
    for record in records.all():
        following.add(record)
    assert ends(told(following)) == [("r1", GoneReason.CANCELED)]
    assert following.unclaimed() == ["r1"]
    await following.forget("r1")
    assert list(records.all()) == []


async def test_runner_that_comes_after_the_end_hears_of_it(records: Records) -> None:
    table = JobTable(records)
    job = table.add(Record("7.a.1", "tag", ["r0"], job_id=17))
    await table.report_gone(job, GoneReason.LOST, "node failed")
    table.hold(job, launch("late"))
    table.report_again(job, "late")
    assert ends(told(table)) == [("r0", GoneReason.LOST), ("late", GoneReason.LOST)]


async def test_allocation_that_never_became_a_job_ends_for_all_but_the_one_that_asked(records: Records) -> None:
    table = JobTable(records)
    job = table.add(Record("7.a.1", "tag", []))
    for rank in range(3):
        table.hold(job, launch(f"r{rank}", rank))
    records.write(job.record)
    await table.give_up(job, launch("r2", 2), "refused")
    assert ends(told(table)) == [("r0", GoneReason.NOT_STARTED), ("r1", GoneReason.NOT_STARTED)]
    assert list(records.all()) == []
    assert table.holder_of("r2") is None


async def test_unknown_runner_is_forgotten_without_a_word(records: Records) -> None:
    await JobTable(records).forget("nobody")


def test_records_that_cannot_be_read_are_left_alone(
    records: Records, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    records.write(Record("1.a.1", "tag", ["r"], job_id=5))
    for name, content in {"b": "", "c": "[1]", "d": "{}", "e": '{"allocation_id": 1, "more": 2}'}.items():
        (tmp_path / "slurm" / f"job-{name}.json").write_text(content)
    assert [record.allocation_id for record in records.all()] == ["1.a.1"]
    assert caplog.text.count("is left alone") == 4
    assert len(list((tmp_path / "slurm").iterdir())) == 5


def test_hosts_of_an_earlier_life_are_remembered_and_a_broken_file_is_none(records: Records, tmp_path: Path) -> None:
    assert records.hosts() == []
    records.remember_hosts(["main|n1"])
    assert records.hosts() == ["main|n1"]
    (tmp_path / "slurm" / "sinfo.json").write_text("[")
    assert records.hosts() == []


def test_record_is_replaced_in_one_step(records: Records, tmp_path: Path) -> None:
    record = Record("1.a.1", "tag", ["r"])
    records.write(record)
    record.job_id = 9
    records.write(record)
    assert json.loads((tmp_path / "slurm" / "job-1.a.1.json").read_text())["job_id"] == 9
    assert [path.name for path in (tmp_path / "slurm").iterdir()] == ["job-1.a.1.json"]


def test_place_that_cannot_be_made_is_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable, match="choose another data_dir"):
        Records(tmp_path / "file" / "slurm").open()
    with pytest.raises(Unavailable, match="free space or correct its owner"):
        Records(tmp_path / "missing").write(Record("1.a.1", "tag", []))


async def test_pauses_grow_while_nothing_happens_and_shrink_when_something_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("determined.engines.slurm.poll_interval._FAST", 0.001)
    monkeypatch.setattr("determined.engines.slurm.poll_interval._SLOW", 0.004)
    pace, pauses = PollInterval(), []
    for _ in range(8):
        pauses.append(pace.seconds)
        await pace.wait()
    assert pauses == sorted(pauses)
    assert (pauses[0], pace.seconds) == (0.001, 0.004)
    pace.seconds = 3600.0
    pace.poll_now()
    await pace.wait()
    assert pace.seconds == 0.001, "woken at once, and then asked often"


@pytest.mark.parametrize("option", ["-", "--", "---", "--  "])
def test_bare_dashes_are_no_option(option: str) -> None:
    """sbatch reads nothing behind `--`: all that the master asks for would be lost."""
    with pytest.raises(InvalidArgument, match="is no option"):
        check_arguments([option], Device.CUDA)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("--time=1:00 --array=0-9", "one job"),
        ("-t 5 -N 3", "slots_per_node"),
        ("--mem 4G --wrap=ls", "writes the script"),
        ("--account=a  --requeue", "starts a trial again"),
    ],
)
def test_second_option_in_one_text_is_checked_as_well(text: str, named: str) -> None:
    with pytest.raises(InvalidArgument, match=named):
        check_arguments([text], Device.CUDA)


@pytest.mark.parametrize(
    "text", ["--nice -5", "--constraint='a -N b'", '--mail-user="x -p y"', "-t 5", "--licenses=it's"]
)
def test_values_of_options_are_not_taken_for_options(text: str) -> None:
    check_arguments([text], Device.CUDA)
