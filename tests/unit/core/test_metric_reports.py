"""Reported metrics arrive as they were, whatever kind of number a framework made of them."""

import datetime
import enum
import errno
import logging
import math
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from determined import core
from determined.core._metrics import MetricsContext
from determined.core._reporter import Reporter
from determined.rundir.layout import RunDir
from determined.storage.shared_fs.manager import SharedFSStorageManager
from determined.tensorboard import MetricEvents, TensorboardManager
from determined.wire.report import EarlyExit, MetricReport, Progress, Status

Task = Callable[..., None]


def test_plain_numbers_arrive_as_they_are(task: Task, runner: Any) -> None:
    task()
    before = time.time()
    with core.init() as context:
        context.train.report_training_metrics(1, {"loss": 0.5, "n": 3})
        context.train.report_validation_metrics(1, {"acc": 0.9})
        context.train.report_metrics("inference", 2, {"acc": 1.0})
    training, validation, custom = runner.wait_for(3, MetricReport)
    assert (training.group, training.steps, training.metrics) == ("training", 1, {"loss": 0.5, "n": 3})
    assert isinstance(training.metrics["n"], int)
    assert (validation.group, validation.metrics) == ("validation", {"acc": 0.9})
    assert custom.group == "inference"
    assert before <= training.time <= time.time()


def test_batch_metrics_go_along(task: Task, runner: Any) -> None:
    task()
    with core.init() as context:
        context.train.report_training_metrics(2, {"loss": 1.5}, [{"loss": np.float32(1)}, {"loss": np.float32(2)}])
    assert runner.wait_for(1)[0].batch_metrics == [{"loss": 1.0}, {"loss": 2.0}]


class Colour(enum.Enum):
    RED = 1


class Tensor:
    """What torch's tensors can do, as far as reporting needs it."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def detach(self) -> "Tensor":
        return self

    def tolist(self) -> Any:
        return self._value


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.array(2.0), 2.0),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (Tensor(0.25), 0.25),
        (Tensor([1.0, 2.0]), [1.0, 2.0]),
        ((1, 2), [1, 2]),
        ({"a": {"b": np.float64(1)}}, {"a": {"b": 1.0}}),
        (True, True),
        ("text", "text"),
        (b"text", "text"),
        (datetime.datetime(2026, 1, 2, 3, 4), "2026-01-02T03:04:00"),
        (Colour.RED, "RED"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (2**80, float(2**80)),
        (None, None),
    ],
)
def test_other_values_become_plain(task: Task, runner: Any, value: Any, plain: Any) -> None:
    task()
    with core.init() as context:
        context.train.report_training_metrics(1, {"v": value})
    assert runner.wait_for(1)[0].metrics == {"v": plain}


def test_nan_and_infinities_stay_floats(task: Task, runner: Any) -> None:
    task()
    with core.init() as context:
        context.train.report_training_metrics(1, {"nan": math.nan, "inf": math.inf, "neg": np.float32(-math.inf)})
    metrics = runner.wait_for(1)[0].metrics
    assert math.isnan(metrics["nan"])
    assert (metrics["inf"], metrics["neg"]) == (math.inf, -math.inf)


def test_numpy_steps_are_accepted_and_fractions_are_not(task: Task, runner: Any) -> None:
    task()
    with core.init() as context:
        context.train.report_training_metrics(np.int64(5), {"x": 1})  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            context.train.report_training_metrics(1.5, {"x": 1})  # type: ignore[arg-type]
    assert runner.wait_for(1)[0].steps == 5


def test_a_none_among_validation_metrics_is_refused(task: Task) -> None:
    task()
    with core.init() as context, pytest.raises(RuntimeError, match="'acc' is None"):
        context.train.report_validation_metrics(1, {"acc": None})


def test_bytes_among_validation_metrics_are_dropped_with_a_warning(
    task: Task, runner: Any, caplog: pytest.LogCaptureFixture
) -> None:
    task()
    with caplog.at_level(logging.WARNING), core.init() as context:
        context.train.report_validation_metrics(1, {"acc": 1, "raw": b"x", "more": bytearray(b"y")})
    assert runner.wait_for(1)[0].metrics == {"acc": 1}
    assert "'raw'" in caplog.text


@pytest.mark.parametrize("group", ["", "a.b", 3])
def test_a_group_that_is_not_allowed_is_refused_each_time(task: Task, group: Any) -> None:
    task()
    with core.init() as context:
        for _ in range(2):
            with pytest.raises(ValueError, match="metric group"):
                context.train.report_metrics(group, 1, {"x": 1})


@pytest.mark.parametrize("metrics", [[1], "x", {"f": object()}, {"c": 1j}])
def test_what_nobody_can_report_is_a_type_error(task: Task, metrics: Any) -> None:
    task()
    with core.init() as context, pytest.raises(TypeError, match=r"metrics must be|cannot report"):
        context.train.report_training_metrics(1, metrics)


def test_a_dict_changed_after_the_call_does_not_change_the_report(task: Task, runner: Any) -> None:
    task()
    with core.init() as context:
        metrics = {"x": 1.0}
        context.train.report_training_metrics(1, metrics)
        metrics["x"] = 2.0
    assert runner.wait_for(1)[0].metrics == {"x": 1.0}


def test_reports_keep_their_order_across_kinds(task: Task, runner: Any) -> None:
    task()
    with core.init() as context:
        context.train.set_status("training")
        context.train.report_training_metrics(1, {"x": 1})
        context.train.report_progress(0.5)
        context.train.report_early_exit(core.EarlyExitReason.INVALID_HP)
    assert [type(record) for record in runner.wait_for(4)] == [Status, MetricReport, Progress, EarlyExit]
    assert runner.records[2] == Progress(0.5)
    assert runner.records[3].reason == "EXITED_REASON_INVALID_HP"


def test_a_stop_that_the_user_requested_needs_no_report(
    task: Task, runner: Any, caplog: pytest.LogCaptureFixture
) -> None:
    task()
    with caplog.at_level(logging.WARNING), core.init() as context:
        context.train.report_early_exit(core.EarlyExitReason.USER_REQUESTED_STOP)
        context.train.set_status("last")
    assert [type(record) for record in runner.wait_for(1)] == [Status]
    assert "status 0" in caplog.text


@pytest.mark.parametrize("progress", [-0.1, 1.1, math.nan])
def test_progress_outside_of_0_to_1_is_refused(task: Task, progress: float) -> None:
    task()
    with core.init() as context, pytest.raises(ValueError, match="between 0 and 1"):
        context.train.report_progress(progress)


def test_reporting_goes_on_while_nobody_reads_the_journal(task: Task) -> None:
    task()
    with core.init(tensorboard_mode=core.TensorboardMode.MANUAL) as context:
        for step in range(20_000):
            context.train.report_training_metrics(step, {"x": 1.0})


def test_a_full_disk_stops_the_report_and_names_the_place(
    task: Task, run_dir: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    task()
    with core.init() as context:
        monkeypatch.setattr("os.posix_fallocate", full)
        with pytest.raises(OSError, match=f"free space there: '{run_dir.journals}'"):
            context.train.report_training_metrics(1, {"x": 1})


def test_a_flood_of_reports_leaves_few_events_but_its_last_one(tmp_path: Path, run_dir: RunDir) -> None:
    reporter = Reporter(run_dir)
    storage = SharedFSStorageManager(str(tmp_path / "store"))
    events = MetricEvents(TensorboardManager(tmp_path / "local", storage, "p"))
    metrics = MetricsContext(reporter, events)
    for step in range(200):
        metrics.report("training", step, {"x": 1.0})
    metrics.report("training", 200, {"last": 1.0})
    events.start()
    events.close()
    reporter.close()
    (file,) = tmp_path.glob("store/p/*")
    raw = file.read_bytes()
    assert 1 <= raw.count(b"Determined/x") < 100
    assert raw.count(b"Determined/last") == 1
