"""LocalSearchRunner against the master's own searcher in memory, dying at every single step on the way."""

import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

import determined as det
from determined import searcher
from determined.errors import FailedPrecondition, InvalidArgument, MasterNotFound
from determined.search.method import Close, Create, Shutdown, ValidateAfter
from determined.search.searcher import Searcher
from determined.searcher import _store
from determined.searcher._store import SearchStore
from determined.wire.codec import convert
from determined.wire.custom_search import GET_SEARCHER_EVENTS, POST_SEARCHER_OPERATIONS
from determined.wire.experiment import PUT_EXPERIMENT
from determined.wire.operation import Operation

CONFIG = {"name": "n", "entrypoint": "true", "searcher": {"name": "custom", "metric": "loss"}}
CUSTOM = {"name": "custom", "metric": "loss"}


@pytest.fixture(autouse=True)
def no_power_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes die here, the machine does not; waiting for its disk a thousand times would take minutes."""
    monkeypatch.setattr(_store.os, "fsync", lambda fd: None)


class Death(BaseException):
    """kill -9: nothing after this line happens."""


class MasterInMemory:
    """What a session reaches: one experiment whose trials train in no time. `step` is called at each moment."""

    def __init__(self, step: Callable[[], None] = lambda: None) -> None:
        self.step = step
        self.experiments: dict[str, int] = {}
        self.searcher = Searcher.create(CUSTOM, {}, seed=1, classic=True)
        self.searcher.start()
        self.state = "STATE_ACTIVE"
        self.hparams: dict[str, Any] = {}
        self.lengths: dict[str, list[int]] = {}
        self.polls = 0

    def call(self, operation: Operation[Any, Any], request: Any, **how: Any) -> Any:
        if operation is PUT_EXPERIMENT:
            return convert(self._put(how["external_id"]), operation.response)
        if operation is GET_SEARCHER_EVENTS:
            return convert(self._events(), operation.response)
        assert operation is POST_SEARCHER_OPERATIONS
        return self._post(msgspec.to_builtins(request))

    def _put(self, external_id: str) -> dict[str, Any]:
        self.step()
        number = self.experiments.setdefault(external_id, len(self.experiments) + 1)
        self.step()
        return {"config": {}, "experiment": _experiment(number)}

    def _events(self) -> dict[str, Any]:
        self.step()
        self.polls += 1
        events = self.searcher.custom().events()
        if self.state != "STATE_ACTIVE":
            events = [{"id": -1, "experimentInactive": {"experimentState": self.state}}]
        return {"searcherEvents": events}

    def _post(self, body: Any) -> None:
        self.step()
        wanted = self.searcher.posted(body["triggeredByEvent"]["id"], body["searcherOperations"])
        for operation in wanted:
            self._carry_out(operation)
        self.step()

    def _carry_out(self, operation: Any) -> None:
        match operation:
            case Create(request_id, hparams):
                self.hparams[request_id], self.lengths[request_id] = hparams, []
                self.searcher.trial_created(request_id)
            case ValidateAfter(request_id, length):
                self.lengths[request_id].append(length)
                self.searcher.validation(request_id, self.hparams[request_id]["x"] / length, length)
            case Close(request_id):
                self.searcher.exited(request_id)
            case Shutdown():
                self.state = "STATE_COMPLETED"

    @property
    def outcome(self) -> list[Any]:
        return sorted((self.hparams[trial]["x"], lengths) for trial, lengths in self.lengths.items())


class Widening(searcher.SearchMethod):
    """Three trials; each is trained a second time, then closed. It forgets everything but what it saves."""

    def __init__(self, step: Callable[[], None] = lambda: None) -> None:
        self.step = step
        self.made = 0

    def initial_operations(self, searcher_state: searcher.SearcherState) -> list[searcher.Operation]:
        self.step()
        return self._open()

    def on_trial_created(
        self, searcher_state: searcher.SearcherState, request_id: uuid.UUID
    ) -> list[searcher.Operation]:
        return self._open() if self.made < 3 else []

    def on_validation_completed(
        self, searcher_state: searcher.SearcherState, request_id: uuid.UUID, metric: Any, train_length: int
    ) -> list[searcher.Operation]:
        self.step()
        return [searcher.ValidateAfter(request_id, 20) if train_length == 10 else searcher.Close(request_id)]

    def on_trial_closed(
        self, searcher_state: searcher.SearcherState, request_id: uuid.UUID
    ) -> list[searcher.Operation]:
        return [searcher.Shutdown()] if len(searcher_state.trials_closed) == 3 else []

    def on_trial_exited_early(
        self, searcher_state: searcher.SearcherState, request_id: uuid.UUID, exited_reason: searcher.ExitedReason
    ) -> list[searcher.Operation]:
        return []

    def progress(self, searcher_state: searcher.SearcherState) -> float:
        return len(searcher_state.trials_closed) / 3

    def save_method_state(self, path: Path) -> None:
        self.step()
        (path / "made").write_text(str(self.made))
        self.step()

    def load_method_state(self, path: Path) -> None:
        self.made = int((path / "made").read_text())

    def _open(self) -> list[searcher.Operation]:
        self.made += 1
        trial = uuid.uuid4()
        return [searcher.Create(trial, {"x": self.made}), searcher.ValidateAfter(trial, 10)]


class Countdown:
    """Raises at the given step, and never again."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def __call__(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise Death


def run(directory: Path, master: Any, method: searcher.SearchMethod | None = None) -> searcher.LocalSearchRunner:
    runner = searcher.LocalSearchRunner(method or Widening(), directory, session=master)
    runner._sleep = lambda seconds: None
    runner.run(CONFIG)
    return runner


EXPECTED = [(1, [10, 20]), (2, [10, 20]), (3, [10, 20])]


def test_a_search_runs_from_its_submission_to_its_end(tmp_path: Path) -> None:
    master = MasterInMemory()
    runner = run(tmp_path / "search", master)
    assert master.outcome == EXPECTED
    assert runner.state.experiment_completed and not runner.state.experiment_failed
    assert runner.state.experiment_id == 1 and len(runner.state.trials_closed) == 3
    assert master.searcher.progress() == 1


def test_the_directory_is_laid_out_as_promised(tmp_path: Path) -> None:
    runner = run(tmp_path, MasterInMemory())
    last = runner.state.last_event_id
    assert (tmp_path / "experiment_id.txt").read_text() == "1"
    assert (tmp_path / "exp_1" / "event_id").read_text() == str(last)
    event = tmp_path / "exp_1" / f"event_{last}"
    assert sorted(p.name for p in event.iterdir()) == ["made", "ops", "state"]
    assert json.loads((event / "state").read_text())["lastEventId"] == last
    assert json.loads((event / "ops").read_text())[0] == {"shutDown": {"cancel": False, "failure": False}}


def test_death_at_any_step_neither_loses_nor_doubles_an_operation(tmp_path: Path) -> None:
    deaths = 0
    while True:
        directory, countdown = tmp_path / str(deaths), Countdown(deaths + 1)
        master = MasterInMemory(countdown)
        try:
            run(directory, master, Widening(countdown))
            break
        except Death:
            deaths += 1
        run(directory, master, Widening(countdown))
        assert master.outcome == EXPECTED, f"died at step {deaths}"
        assert master.experiments.keys() == {SearchStore(directory).submission_id()}
    assert deaths > 40, "the steps of a whole search were tried"


@pytest.mark.parametrize("every", [6, 7, 8, 11])
def test_dying_again_and_again_still_ends_the_search(tmp_path: Path, every: int) -> None:
    master, method_steps = MasterInMemory(), 0
    for _ in range(100):
        countdown = Countdown(every + method_steps % 3)
        method_steps += 1
        master.step = countdown
        try:
            run(tmp_path, master, Widening(countdown))
            break
        except Death:
            continue
    assert master.state == "STATE_COMPLETED"
    assert master.outcome == EXPECTED


def test_a_half_written_event_is_written_anew(tmp_path: Path) -> None:
    master = MasterInMemory()
    left = tmp_path / "exp_1" / "event_1"
    left.mkdir(parents=True)
    (left / "state").write_text("{")
    run(tmp_path, master)
    assert master.outcome == EXPECTED


def test_a_finished_search_is_found_finished(tmp_path: Path) -> None:
    master = MasterInMemory()
    run(tmp_path, master)
    again = run(tmp_path, master)
    assert again.state.experiment_completed
    assert master.outcome == EXPECTED and len(master.experiments) == 1


@pytest.mark.parametrize(
    ("state", "completed", "failed"),
    [
        ("COMPLETED", True, False),
        ("STOPPING_COMPLETED", True, False),
        ("ERROR", False, True),
        ("STOPPING_ERROR", False, True),
        ("CANCELED", False, False),
        ("STOPPING_KILLED", False, False),
        ("DELETED", False, False),
    ],
)
def test_every_inactive_state_but_paused_ends_the_loop(
    tmp_path: Path, state: str, completed: bool, failed: bool
) -> None:
    master = MasterInMemory()
    master.state = f"STATE_{state}"
    runner = run(tmp_path, master)
    assert (runner.state.experiment_completed, runner.state.experiment_failed) == (completed, failed)
    assert master.outcome == []


def test_a_paused_search_is_polled_once_a_second_until_it_is_activated(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    master, slept = MasterInMemory(), []
    master.state = "STATE_PAUSED"

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        master.state = "STATE_PAUSED" if len(slept) < 3 else "STATE_ACTIVE"

    runner = searcher.LocalSearchRunner(Widening(), tmp_path, session=master)  # type: ignore[arg-type]
    runner._sleep = sleep
    runner.run(CONFIG)
    assert slept == [1.0] * 3
    assert master.outcome == EXPECTED
    assert "is paused" in caplog.text


def test_a_master_that_is_away_is_waited_for(tmp_path: Path) -> None:
    master, slept = MasterInMemory(), []
    answers = iter([False] * 6 + [True] * 1000)

    def step() -> None:
        if not next(answers):
            raise MasterNotFound("nobody answers")

    master.step = step
    runner = searcher.LocalSearchRunner(Widening(), tmp_path, session=master)  # type: ignore[arg-type]
    runner._sleep = slept.append
    runner.run(CONFIG)
    assert slept == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]
    assert master.outcome == EXPECTED and len(master.experiments) == 1


def test_a_refused_answer_is_computed_anew_once_the_method_is_mended(tmp_path: Path) -> None:
    class Broken(Widening):
        def on_validation_completed(
            self, searcher_state: searcher.SearcherState, request_id: uuid.UUID, metric: Any, train_length: int
        ) -> list[searcher.Operation]:
            return [searcher.ValidateAfter(request_id, 1)]

    master = MasterInMemory()
    for _ in range(2):
        with pytest.raises(InvalidArgument, match="not beyond the 10"):
            run(tmp_path, master, Broken())
    run(tmp_path, master)
    assert master.outcome == EXPECTED


def test_a_refused_first_answer_leaves_nothing_saved(tmp_path: Path) -> None:
    class Broken(Widening):
        def initial_operations(self, searcher_state: searcher.SearcherState) -> list[searcher.Operation]:
            return [searcher.Close(uuid.uuid4())]

    master = MasterInMemory()
    with pytest.raises(InvalidArgument, match="no trial has request id"):
        run(tmp_path, master, Broken())
    assert SearchStore(tmp_path).newest(1) is None
    run(tmp_path, master)
    assert master.outcome == EXPECTED


@pytest.mark.parametrize("config", [{"searcher": {"name": "single"}}, {"searcher": "custom"}, {}])
def test_a_config_with_another_searcher_is_refused_before_it_is_sent(tmp_path: Path, config: dict[str, Any]) -> None:
    master = MasterInMemory()
    runner = searcher.LocalSearchRunner(Widening(), tmp_path, session=master)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"`searcher\.name: custom`"):
        runner.run(config)
    assert not master.experiments


def test_a_file_is_no_directory_for_a_search(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError, match="file"):
        searcher.LocalSearchRunner(Widening(), tmp_path / "file")


def test_the_current_directory_is_used_when_none_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert searcher.LocalSearchRunner(Widening()).searcher_dir == tmp_path


def test_a_directory_has_one_runner_at_a_time(tmp_path: Path) -> None:
    with SearchStore(tmp_path).locked(), pytest.raises(FailedPrecondition, match="another runner"):
        run(tmp_path, MasterInMemory())
    run(tmp_path, MasterInMemory())


def test_a_remote_runner_needs_a_trial() -> None:
    with det.core.init() as core_context, pytest.raises(ValueError, match="LocalSearchRunner"):
        searcher.RemoteSearchRunner(Widening(), core_context)


def test_old_events_do_not_pile_up(tmp_path: Path) -> None:
    runner = run(tmp_path, MasterInMemory())
    assert runner.state.last_event_id > 5
    assert len(list((tmp_path / "exp_1").glob("event_[0-9]*"))) == 2


def _experiment(number: int) -> dict[str, Any]:
    return {
        "id": number, "name": "n", "archived": False, "config": {}, "jobId": "", "numTrials": 0, "originalConfig": "",
        "projectId": 1, "projectOwnerId": 1, "searcherType": "custom", "startTime": "", "state": "STATE_ACTIVE",
        "username": "u",
    }  # fmt: skip


def test_half_written_event_is_never_gone_back_to(tmp_path: Path) -> None:
    store = SearchStore(tmp_path)
    with store.saving(1, 5, []):
        pass
    (tmp_path / "exp_1" / "event_7").mkdir()  # its runner was killed while it wrote
    with store.saving(1, 9, []):
        pass
    store.forget_newest(1)
    assert store.newest(1) == tmp_path / "exp_1" / "event_5"
