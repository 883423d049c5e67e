"""Parts of detached mode that need no master: configs, endings, copied output, files."""

import io
import os
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from determined.core._modes import PreemptMode, TensorboardMode
from determined.core._offcluster import DummyDistributedContext
from determined.core.detached import directory
from determined.core.detached.context import TrialDelivery, context
from determined.core.detached.ending import EndingWatch, run_end_of
from determined.core.detached.experiment import ExperimentRequest, check, experiment_config, storage_section
from determined.core.detached.output import OutputCopy
from determined.core.detached.registration import Registered, cluster_info
from determined.errors import InvalidHP
from determined.rundir import detached
from determined.rundir.control import Control
from determined.rundir.detached import DetachedFile, RunEnd
from determined.rundir.journal import JournalReader, journal_names
from determined.rundir.layout import RunDir


@pytest.fixture
def run_dir(tmp_path: Path) -> RunDir:
    made = RunDir(tmp_path / "run")
    made.create()
    return made


def test_an_experiment_without_a_request_has_a_name_a_searcher_and_a_storage() -> None:
    config = experiment_config(ExperimentRequest(), {"type": "directory"})
    assert config.pop("name").startswith("unmanaged-")
    searcher = {"name": "single", "metric": "unmanaged"}
    assert config == {"searcher": searcher, "checkpoint_storage": {"type": "directory"}}


def test_a_request_becomes_fields_of_the_config() -> None:
    wanted = ExperimentRequest("n", {"lr": 1}, {"d": 1}, "text", ["l"], "w", "p", {"name": "single", "metric": "m"})
    assert experiment_config(wanted, {}) == {
        "name": "n", "data": {"d": 1}, "description": "text", "labels": ["l"], "workspace": "w", "project": "p",
        "searcher": {"name": "single", "metric": "m"}, "checkpoint_storage": {},
    }  # fmt: skip


def test_webhooks_of_a_request_are_those_of_the_config() -> None:
    integrations = {"webhooks": {"webhook_name": ["mine"]}}
    assert experiment_config(ExperimentRequest(integrations=integrations), {})["integrations"] == integrations


def test_a_trial_cannot_be_named_without_its_experiment() -> None:
    with pytest.raises(ValueError, match="external_trial_id='t' names a trial"):
        check(ExperimentRequest(external_trial_id="t"))
    check(ExperimentRequest(external_experiment_id="e", external_trial_id="t"))


def test_paths_become_absolute_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert storage_section("here", tmp_path)["container_path"] == str(tmp_path / "here")
    assert storage_section(None, tmp_path / "home") == {"type": "directory", "container_path": str(tmp_path / "home")}
    assert storage_section({"type": "s3", "bucket": "b"}, tmp_path) == {"type": "s3", "bucket": "b"}


@pytest.mark.parametrize(
    ("error", "state"),
    [(None, "COMPLETED"), (SystemExit(None), "COMPLETED"), (SystemExit(0), "COMPLETED"), (SystemExit(1), "ERROR"),
     (SystemExit("bad"), "ERROR"), (KeyboardInterrupt(), "CANCELED"), (ValueError("x"), "ERROR"),
     (InvalidHP("x"), "ERROR")],
)  # fmt: skip
def test_an_ending_means_a_state(error: BaseException | None, state: str) -> None:
    assert run_end_of(error).state == state


def test_sys_exit_is_seen_and_put_back() -> None:
    original, watch = sys.exit, EndingWatch()
    watch.start()
    with pytest.raises(SystemExit):
        sys.exit(3)
    watch.stop()
    assert isinstance(watch.error, SystemExit) and watch.error.code == 3
    assert sys.exit is original


def test_an_uncaught_exception_is_seen_and_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    printed: list[BaseException] = []
    monkeypatch.setattr(sys, "excepthook", lambda _kind, error, _where: printed.append(error))
    watch, error = EndingWatch(), ValueError("x")
    watch.start()
    sys.excepthook(ValueError, error, None)
    watch.stop()
    assert (watch.error, printed) == (error, [error])


def test_printed_lines_are_copied_with_their_own_times(run_dir: RunDir, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    copy = OutputCopy(run_dir, 1)
    copy.start()
    print("first")
    print("WARNING: second\nthird", end="")
    copy.close()
    assert (sys.stdout, out.getvalue()) == (out, "first\nWARNING: second\nthird")
    [name] = [each for each in journal_names(run_dir.journals) if each.startswith("lines-")]
    records = [msgspec.msgpack.decode(raw) for raw in JournalReader(run_dir.journals, name).read()[1]]
    assert [(r[1], r[3], r[4], r[5]) for r in records] == [
        ("first", "stdout", None, 1), ("second", "stdout", "WARNING", 1), ("third", "stdout", None, 1),
    ]  # fmt: skip
    assert records[0][2] <= records[1][2] <= records[2][2]


def test_a_forked_child_prints_without_a_journal(run_dir: RunDir, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    copy = OutputCopy(run_dir, None)
    copy.start()
    if (child := os.fork()) == 0:
        try:
            sys.stdout.write("from the child\n")
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    copy.close()


class FinishedProcess:
    """Delivery process that keeps what it is told."""

    def __init__(self) -> None:
        self.run_ends: list[RunEnd] = []

    def start(self) -> None: ...

    def finish(self, end: RunEnd) -> bool:
        self.run_ends.append(end)
        return True


def test_the_traceback_of_an_error_that_leaves_the_context_is_in_the_log(run_dir: RunDir) -> None:
    Control.open(run_dir.control)
    delivery, process = TrialDelivery(run_dir, DummyDistributedContext()), FinishedProcess()
    delivery._process = process  # type: ignore[assignment]
    delivery.start()
    try:
        raise ValueError("on purpose")
    except ValueError as e:
        delivery.close(e)
    [name] = [each for each in journal_names(run_dir.journals) if each.startswith("lines-")]
    lines = [msgspec.msgpack.decode(raw)[1] for raw in JournalReader(run_dir.journals, name).read()[1]]
    assert (lines[0], lines[-1]) == ("Traceback (most recent call last):", "ValueError: on purpose")
    assert [end.state for end in process.run_ends] == ["ERROR"]


def test_the_file_of_a_run_is_private_and_the_first_verdict_counts(run_dir: RunDir) -> None:
    file = DetachedFile(master_url="http://m", token="secret", trial_id=1, run_id=2)
    detached.write(run_dir, file)
    assert run_dir.detached.stat().st_mode & 0o777 == 0o600
    assert (detached.read(run_dir), "secret" in repr(file)) == (file, False)
    assert detached.read_end(run_dir) is None
    for state in ("ERROR", "COMPLETED"):
        detached.write_end(run_dir, RunEnd(state=state, message=""))
    assert detached.read_end(run_dir) == RunEnd(state="ERROR", message="")


class Requests:
    """Session that keeps the requests."""

    master_url, token, username, _cert = "http://m", "t", "u", None

    def __init__(self) -> None:
        self.sent: list[Any] = []

    def call(self, _operation: Any, request: Any = None, **_ids: Any) -> None:
        self.sent.append(request)


def test_a_trial_whose_context_cannot_be_made_is_an_error_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory, "directories", lambda: tmp_path / "detached")
    session: Any = Requests()
    info = cluster_info(session, Registered("c", 1, 7, "task", 1, 0, None, {}, {}))
    with pytest.raises(TypeError, match="no-such-kind"):
        context(
            session, info, distributed=None, checkpoint_storage={"type": "no-such-kind"},
            preempt_mode=PreemptMode.WorkersAskChief, tensorboard_mode=TensorboardMode.MANUAL,
        )  # fmt: skip
    assert [(each.trial_id, each.state) for each in session.sent] == [(7, "STATE_ERROR")]
    assert not list((tmp_path / "detached").iterdir()), "nobody takes it over and sets the state once more"
