"""Logs and metrics of a running trial, read with the Python SDK."""

import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from tracked import Tracked, until

from determined.errors import InvalidArgument, NotFound
from determined.sdk.determined import Determined
from determined.sdk.enums import ExperimentState, LogLevel, TrialState
from determined.sdk.trial import Trial
from determined.wire.report import Exit, ExitCause, LogLine, MetricReport

Sdk = Callable[..., Determined]
LINES = [
    LogLine("plain start", 100.0, "stdout", None, None),
    LogLine("rank zero", 200.0, "stdout", "INFO", 0),
    LogLine("rank one warns", 300.0, "stderr", "WARNING", 1),
    LogLine("Traceback: boom", 400.0, "stderr", "ERROR", 1),
    LogLine("plain end", 500.0, "stdout", None, None),
]


@pytest.fixture
def logged(trial: Tracked, sdk: Sdk) -> Trial:
    trial.send(*LINES, source="logs")
    return sdk("admin").get_trial(trial.trial_id)


def _texts(lines: list[str]) -> list[str]:
    """Lines without what stands before the text of each."""
    return [next(line.text for line in LINES if shown.rstrip("\n").endswith(line.text)) for shown in lines]


def test_every_filter_of_the_logs_picks_its_lines_in_their_order(logged: Trial, trial: Tracked) -> None:
    own = str(trial.launch.container_id)
    cases: list[tuple[dict[str, Any], list[int]]] = [
        ({}, [0, 1, 2, 3, 4]),
        ({"rank_ids": [1]}, [2, 3]),
        ({"rank_ids": [0, 1]}, [1, 2, 3]),
        ({"stdtypes": ["stderr"]}, [2, 3]),
        ({"min_level": LogLevel.WARNING}, [2, 3]),
        ({"min_level": LogLevel.CRITICAL}, []),
        ({"timestamp_after": "1970-01-01T00:05:00Z"}, [3, 4]),
        ({"timestamp_after": 300}, [3, 4]),
        ({"timestamp_before": 300}, [0, 1, 2]),
        ({"search_text": "PLAIN"}, [0, 4]),
        ({"container_ids": [own]}, [0, 1, 2, 3, 4]),
        ({"container_ids": ["none"]}, []),
        ({"head": 2}, [0, 1]),
        ({"tail": 2}, [3, 4]),
        ({"head": 0}, []),
        ({"tail": 0}, []),
        ({"tail": 99}, [0, 1, 2, 3, 4]),
        ({"tail": 1, "rank_ids": [1]}, [3]),
        ({"head": 3, "stdtypes": ["stdout"]}, [0, 1, 4]),
    ]
    for filters, picked in cases:
        shown = list(logged.iter_logs(sources=["task"], **filters))
        assert _texts(shown) == [LINES[place].text for place in picked], filters


def test_a_line_shows_its_time_rank_and_level_before_its_text(logged: Trial) -> None:
    [shown] = logged.iter_logs(search_text="warns", sources=["task"])
    before, _, text = shown.rstrip("\n").rpartition("rank one warns")
    assert text == "" and "1970-01-01T00:05:00" in before
    assert "[rank=1]" in before and "WARNING" in before


def test_following_ends_when_the_trial_has_ended(logged: Trial, trial: Tracked) -> None:
    lines = logged.iter_logs(follow=True)
    first = next(lines)
    trial.send(Exit(ExitCause.EXITED, 0, "exit 0", 600.0), source="logs")
    shown = [first, *lines]
    assert [text for line in LINES for text in shown if line.text in text] == [
        text for text in shown if any(line.text in text for line in LINES)
    ]
    assert sum(LINES[-1].text in text for text in shown) == 1


def test_logs_that_are_read_in_part_leave_the_session_usable(logged: Trial) -> None:
    for _ in range(8):  # more than the connections that a session keeps
        assert "plain start" in next(logged.iter_logs(sources=["task"]))
    logged.reload()
    assert logged.state is TrialState.QUEUED, "its runner has not said that it runs"


@pytest.mark.parametrize("wrong", [{"timestamp_after": "yesterdayZ"}, {"rank_ids": ["x"]}])
def test_a_filter_that_the_master_cannot_read_is_refused_with_its_words(logged: Trial, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match=r"yesterdayZ|rankIds"):
        list(logged.iter_logs(**wrong))


def test_logs_of_a_trial_that_does_not_exist_are_not_found(sdk: Sdk) -> None:
    missing = Trial(777, sdk()._session)
    with pytest.raises(NotFound, match="777"):
        list(missing.iter_logs())
    with pytest.raises(NotFound, match="777"):
        list(missing.iter_metrics("training"))


def test_metrics_come_by_group_with_their_steps_times_and_batches(trial: Tracked, sdk: Sdk) -> None:
    trial.send(
        MetricReport("training", 1, {"loss": 0.5, "n": 3}, 10.75, [{"loss": 0.4}, {"loss": 0.6}]),
        MetricReport("validation", 1, {"loss": math.inf}, 20.0),
        MetricReport("training", 2, {"loss": 0.25}, 30.0),
        MetricReport("inference", 2, {"speed": 7}, 40.0),
    )
    found = sdk().get_trial(trial.trial_id)
    first, second = found.iter_metrics("training")
    assert (first.steps_completed, first.metrics, first.group) == (1, {"loss": 0.5, "n": 3}, "training")
    assert first.batch_metrics == [{"loss": 0.4}, {"loss": 0.6}]
    assert (first.trial_id, first.trial_run_id) == (trial.trial_id, 1)
    assert first.end_time == datetime(1970, 1, 1, 0, 0, 10, tzinfo=UTC)
    assert (second.total_batches, second.batch_metrics) == (2, None)
    [validation] = found.iter_metrics("validation")
    assert float(validation.metrics["loss"]) == math.inf
    [own_group] = found.iter_metrics("inference")
    assert own_group.metrics == {"speed": 7}
    assert list(found.iter_metrics("never reported")) == []


def test_metrics_of_several_trials_are_told_apart(sdk: Sdk, submit_trial: Callable[..., Tracked]) -> None:
    trials = [submit_trial(), submit_trial()]
    for tracked in trials:
        for step in (1, 2, 3):
            tracked.send(MetricReport("training", step, {"own": tracked.trial_id}, float(step)))
    ids = [tracked.trial_id for tracked in trials]
    reports = list(sdk().iter_trials_metrics(ids, "training"))
    assert sorted((r.trial_id, r.steps_completed) for r in reports) == [(i, s) for i in sorted(ids) for s in (1, 2, 3)]
    assert all(r.metrics == {"own": r.trial_id} for r in reports)


def test_a_trial_is_killed_and_its_experiment_ends(trial: Tracked, sdk: Sdk) -> None:
    found = sdk("admin").get_trial(trial.trial_id)
    trial.send(MetricReport("validation", 1, {"loss": 0.5}, 1.0))
    found.kill()
    trial.send(Exit(ExitCause.KILLED, 137, "killed", 2.0), source="logs")
    owner = found.get_experiment()

    def ended() -> bool:
        owner.reload()
        return owner.state is ExperimentState.CANCELED

    until(ended)
    found.reload()
    assert (found.state, found.experiment_id) == (TrialState.CANCELED, trial.experiment_id)
    assert found.summary_metrics is not None
    assert found.summary_metrics["validation_metrics"]["loss"]["last"] == 0.5
