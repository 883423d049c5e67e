"""Checkpoints that are stored in the background: when they are reported, who waits for them, and what failures do."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rank_job import threaded
from task_around import Operations, write_task_info

from determined import core
from determined.core import DistributedContext
from determined.rundir.control import Control
from determined.rundir.journal import JournalReader, journal_names
from determined.rundir.layout import RunDir
from determined.storage.content_index import PREFIX
from determined.storage.directory.manager import DirectoryStorageManager
from determined.storage.local import LocalStorageManager
from determined.storage.shared_fs.manager import SharedFSStorageManager
from determined.wire.report import CheckpointReport, Record

Task = Callable[..., None]
PROGRAM = Path(__file__).with_name("saving_program.py")
CLASSIC = {"name": "single", "metric": "x", "max_length": {"batches": 20}}
WAIT_SECONDS = 60.0


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """What is stored in the background waits for it."""
    opened = threading.Event()
    yield opened
    opened.set()


def _save(context: core.Context, gate: threading.Event | None = None, steps: int = 1) -> core.BackgroundSave:
    with context.checkpoint.store_path_async({"steps_completed": steps}) as save:
        (save.path / "model").write_text("weights")
        if gate is not None:
            save.write_later(gate.wait, WAIT_SECONDS)
            save.write_later((save.path / "later").write_text, "copied")
    return save


def _broken(context: core.Context) -> core.BackgroundSave:
    """A save whose storage fails in the background."""
    with context.checkpoint.store_path_async({"steps_completed": 1}) as save:
        (save.path / "model").write_text("weights")
        save.write_later((save.path / "missing" / "file").write_text, "1")
    return save


def test_the_script_goes_on_and_the_report_follows_when_the_files_are_safe(
    task: Task, runner: Any, tmp_path: Path, gate: threading.Event
) -> None:
    task()
    with core.init() as context:
        save = _save(context, gate, 10)
        context.train.set_status("after")
        runner.wait_for(1)
        assert not save.done() and not runner._of(CheckpointReport)
        assert not (tmp_path / "checkpoints" / save.storage_id).exists()
        gate.set()
        save.wait()
        assert save.done()
        report: CheckpointReport = runner.wait_for(1, CheckpointReport)[0]
    assert (report.uuid, report.steps) == (save.storage_id, 10)
    assert report.resources == {"later": 6, "metadata.json": report.resources["metadata.json"], "model": 7}
    assert (tmp_path / "checkpoints" / save.storage_id / "later").read_text() == "copied"


def test_it_unpacks_as_a_store_path(task: Task, runner: Any) -> None:
    task()
    with core.init() as context:
        with context.checkpoint.store_path_async({"steps_completed": 1}) as (path, storage_id):
            (path / "model").write_text("weights")
        with context.checkpoint.restore_path(storage_id) as stored:
            assert (stored / "model").read_text() == "weights"


WAITING: dict[str, Callable[[core.Context, str], object]] = {
    "store_path_async": lambda context, _: _save(context),
    "store_path": lambda context, _: context.checkpoint.store_path({"steps_completed": 2}).__enter__(),
    "restore_path": lambda context, name: context.checkpoint.restore_path(name).__enter__(),
    "get_metadata": lambda context, name: context.checkpoint.get_metadata(name),
    "close": lambda context, _: context.close(),
}


@pytest.mark.parametrize("name", WAITING)
def test_what_needs_the_checkpoint_waits_for_it(
    task: Task, master: Any, runner: Any, gate: threading.Event, name: str
) -> None:
    task()
    context = core.init().start()
    save = _save(context, gate)
    master.routes["GET", f"/api/v1/checkpoints/{save.storage_id}"] = {"checkpoint": {"metadata": {}}}
    waiting = threading.Thread(target=WAITING[name], args=(context, save.storage_id))
    waiting.start()
    waiting.join(0.1)
    assert waiting.is_alive()
    gate.set()
    waiting.join(WAIT_SECONDS)
    assert save.done() and runner.wait_for(1, CheckpointReport)[0].uuid == save.storage_id
    context.close()


def test_an_operation_is_completed_when_its_checkpoint_is_reported(
    task: Task, master: Any, runner: Any, gate: threading.Event
) -> None:
    task(CLASSIC)
    operations = Operations(master, 10)
    complete, reported = master.routes["POST", "/api/v1/trials/7/searcher/completed_operation"], []
    master.routes["POST", "/api/v1/trials/7/searcher/completed_operation"] = lambda body: (
        reported.extend(runner._of(CheckpointReport)),
        complete(body),
    )[1]
    with core.init() as context:
        for op in context.searcher.operations():
            _save(context, gate, op.length)
            threading.Timer(0.1, gate.set).start()
            op.report_completed(0.5)
    assert operations.completed == [(10, 0.5)]
    assert [report.steps for report in reported] == [10]


def test_a_failure_is_raised_by_the_next_save_and_nothing_is_reported_or_left(
    task: Task, runner: Any, tmp_path: Path
) -> None:
    task()
    with core.init() as context:
        _broken(context)
        with pytest.raises(FileNotFoundError):
            _save(context)
        after = _save(context)  # raised once
    assert [report.uuid for report in runner.wait_for(1, CheckpointReport)] == [after.storage_id]
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == [after.storage_id]


def test_a_store_that_breaks_in_the_background_is_heard_of(
    task: Task, runner: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    task()
    with pytest.raises(OSError, match="No space left"), core.init() as context:
        monkeypatch.setattr(LocalStorageManager, "publish", fail)
        _save(context)
    assert not runner._of(CheckpointReport)
    assert list((tmp_path / "checkpoints").iterdir()) == []


@pytest.mark.parametrize(("leaving", "raised"), [(SystemExit(0), FileNotFoundError), (KeyError("own"), KeyError)])
def test_a_failure_is_raised_at_the_end_unless_the_script_has_failed_by_itself(
    task: Task, runner: Any, leaving: BaseException, raised: type[BaseException]
) -> None:
    task()
    with pytest.raises(raised), core.init() as context:
        _broken(context)
        raise leaving
    assert not runner._of(CheckpointReport)


def test_a_script_that_fails_still_stores_what_it_was_saving(task: Task, runner: Any, gate: threading.Event) -> None:
    task()
    with pytest.raises(KeyError), core.init() as context:
        save = _save(context, gate)
        threading.Timer(0.1, gate.set).start()
        raise KeyError("own")
    assert runner.wait_for(1, CheckpointReport)[0].uuid == save.storage_id


def test_an_exception_in_the_block_stores_nothing(task: Task, runner: Any, tmp_path: Path) -> None:
    task()
    with core.init() as context:
        with pytest.raises(ZeroDivisionError), context.checkpoint.store_path_async({"steps_completed": 1}) as save:
            save.write_later((save.path / "model").write_text, "weights")
            raise ZeroDivisionError
        assert list((tmp_path / "checkpoints").iterdir()) == []
    assert not runner._of(CheckpointReport)


def test_a_write_after_the_block_is_refused(task: Task, runner: Any) -> None:
    task()
    with core.init() as context:
        save = _save(context)
        with pytest.raises(RuntimeError, match="inside the block"):
            save.write_later(print)


def test_ranks_store_their_parts_together_while_their_main_threads_exchange_other_things(tmp_path: Path) -> None:
    parted = threading.Barrier(3)

    def work(dist: DistributedContext) -> Any:
        checkpoints = core.DummyCheckpointContext(dist, SharedFSStorageManager(str(tmp_path / "store")))
        stored = []
        for step in range(2):
            with checkpoints.store_path_async({f"rank{dist.rank}": step}, shard=True) as save:
                save.write_later((save.path / f"part{dist.rank}").write_text, str(step))
                save.write_later(parted.wait, WAIT_SECONDS)
            assert dist.allgather(dist.rank) == [0, 1, 2]
            stored.append(save.storage_id)
        checkpoints._wait()
        metadata = checkpoints.get_metadata(stored[-1])
        checkpoints._close()
        return stored, metadata

    first, *others = threaded(work, [0, 1, 2], size=3)
    assert others == [first, first]
    assert first[1] == {"rank0": 1, "rank1": 1, "rank2": 1}
    for storage_id in first[0]:
        assert {path.name for path in (tmp_path / "store" / storage_id).glob("part*")} == {"part0", "part1", "part2"}


@pytest.mark.parametrize("culprit", [0, 1])
def test_a_rank_that_fails_in_the_background_fails_the_save_of_all(tmp_path: Path, culprit: int) -> None:
    def work(dist: DistributedContext) -> str:
        checkpoints = core.DummyCheckpointContext(dist, SharedFSStorageManager(str(tmp_path / "store")))
        with checkpoints.store_path_async({}, shard=True) as save:
            name = "missing/part" if dist.rank == culprit else f"part{dist.rank}"
            save.write_later((save.path / name).write_text, "1")
        told = ""
        try:
            checkpoints._wait()
        except (FileNotFoundError, RuntimeError) as err:
            told = type(err).__name__
        checkpoints._close()
        return told

    outcomes = threaded(work, [0, 1], size=2)
    assert outcomes[culprit] == "FileNotFoundError" and outcomes[1 - culprit] == "RuntimeError"
    assert list((tmp_path / "store").iterdir()) == []


def test_a_script_that_never_closes_its_context_ends_when_its_checkpoint_is_stored(
    tmp_path: Path, off_cluster: Path
) -> None:
    script = (
        "from determined import core; import time; context = core.init().start()\n"
        "with context.checkpoint.store_path_async() as save:\n"
        "    save.write_later(time.sleep, 0.3)\n"
        "    save.write_later((save.path / 'large').write_bytes, bytes(9 << 20))\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, env=_environment(), timeout=60)
    (stored,) = [path for path in off_cluster.iterdir() if not path.name.startswith(PREFIX)]
    assert (stored / "large").stat().st_size == 9 << 20
    assert not stored.name.startswith(".staging")


def test_a_killed_script_has_reported_only_what_is_whole(tmp_path: Path, run_dir: RunDir) -> None:
    _kill_often(tmp_path, run_dir, times=12)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_script_killed_at_two_hundred_moments_has_reported_only_what_is_whole(
    tmp_path: Path, run_dir: RunDir
) -> None:
    _kill_often(tmp_path, run_dir, times=200)


def _kill_often(tmp_path: Path, run_dir: RunDir, times: int) -> None:
    """Whatever was reported can be restored, whatever the store shows is whole, and one at most was not reported."""
    moments = random.Random(3)
    store = DirectoryStorageManager(str(tmp_path / "checkpoints"))
    section = {"type": "directory", "container_path": str(tmp_path / "checkpoints")}
    write_task_info(run_dir, "http://127.0.0.1:9", {"searcher": {"metric": "x"}, "checkpoint_storage": section})
    Control.open(run_dir.control).master_away = True  # nobody acknowledges: nothing waits for that
    checked: set[str] = set()
    for _ in range(times):
        _killed_after(moments.uniform(0.0, 0.15), run_dir)
        reported = set(_reported(run_dir))
        published = {path.name for path in store.base.glob("*")} if store.base.exists() else set()
        assert reported <= published
        assert len({name for name in published - checked if not name.startswith(".")} - reported) <= 1
        for name in reported - checked:
            store.download(name, tmp_path / "again" / name)  # compares every file with its hash
            assert (tmp_path / "again" / name / "large").stat().st_size == 3 << 20
            store.delete(name, ["large"])  # they would fill the disk
        checked |= published
    assert any(not name.startswith(".") for name in checked), "no save was ever done in time"


def _killed_after(seconds: float, run_dir: RunDir) -> None:
    environment = _environment(DET_RUN_DIR=str(run_dir.path), DET_RETRY_CONFIG='{"total": 0}')
    process = subprocess.Popen([sys.executable, str(PROGRAM)], env=environment, stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)


def _environment(**more: str) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "DET_RUN_DIR"} | more


def _reported(run_dir: RunDir) -> list[str]:
    found = []
    for name in journal_names(run_dir.journals):
        reader = JournalReader(run_dir.journals, name)
        _, payloads = reader.read()
        records = [msgspec.msgpack.decode(raw, type=Record) for raw in payloads]
        found += [record.uuid for record in records if isinstance(record, CheckpointReport)]
        reader.close()
    return found
