"""Idle timeouts: which one counts, and how it is written."""

from typing import Any

import pytest

from determined.master.config import load_master_config
from determined.master.lifecycle.idle import go_duration, idle_timeout


def timeout_of(kind: str, task: dict[str, Any], **config: Any) -> float | None:
    return idle_timeout(load_master_config({"data_dir": "unused", **config}, {}, {}), kind, task)


@pytest.mark.parametrize(
    ("seconds", "text"), [(1800, "30m0s"), (5400, "1h30m0s"), (45, "45s"), (60, "1m0s"), (90000, "25h0m0s")]
)
def test_durations_are_written_as_upstream_writes_them(seconds: float, text: str) -> None:
    assert go_duration(seconds) == text


def test_the_tasks_own_timeout_goes_before_the_clusters() -> None:
    assert timeout_of("NOTEBOOK", {"idle_timeout": "2h"}, notebook_timeout=600) == 7200
    assert timeout_of("NOTEBOOK", {"idle_timeout": None}, notebook_timeout=600) == 600
    assert timeout_of("TENSORBOARD", {}) == 300
    assert timeout_of("SHELL", {"idle_timeout": "2h"}, notebook_timeout=600) == 7200


def test_without_a_timeout_or_with_zero_a_task_is_never_idle() -> None:
    assert timeout_of("NOTEBOOK", {}) is None
    assert timeout_of("SHELL", {}, notebook_timeout=600) is None
    assert timeout_of("TENSORBOARD", {"idle_timeout": "0s"}) is None
    assert timeout_of("COMMAND", {"idle_timeout": "1s"}) is None


def test_a_timeout_is_no_shorter_than_the_time_between_two_reports() -> None:
    assert timeout_of("NOTEBOOK", {"idle_timeout": "1s"}) == 60
    assert timeout_of("TENSORBOARD", {"idle_timeout": "1s"}) == 1
