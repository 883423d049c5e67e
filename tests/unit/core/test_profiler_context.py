"""Samples of the machine become metric groups without steps."""

from collections.abc import Callable
from typing import Any

import pytest

from determined import core
from determined.core._profiler import average
from determined.core._system_metrics import Machine, parse_gpus

Task = Callable[..., None]


def test_groups_are_reported_under_the_agent(task: Task, runner: Any) -> None:
    task()
    with core.init() as context:
        context.profiler.on(sampling_interval=0.1, samples_per_report=2)
        context.profiler.on(sampling_interval=0.1)
        reports = {report.group: report for report in runner.wait_for(5)}  # gpu is one of them where there are any
        context.profiler.off()
        context.profiler.off()
    assert {"cpu", "memory", "disk", "network"} <= reports.keys()
    assert all(report.steps is None for report in reports.values())
    assert 0 <= reports["cpu"].metrics["agent"]["cpu_util_simple"] <= 100
    assert reports["memory"].metrics["agent"]["memory_free"] > 0
    assert 0 <= reports["disk"].metrics["agent"]["/"]["disk_util"] <= 100


@pytest.mark.parametrize("how", [{"sampling_interval": 0.05}, {"samples_per_report": 0}, {"samples_per_report": 1.5}])
def test_senseless_sampling_is_refused_on_and_off_cluster(task: Task, how: dict[str, Any]) -> None:
    task()
    with core.init() as context:
        for profiler in (context.profiler, core.DummyProfilerContext()):
            with pytest.raises(ValueError, match=r"sampling_interval|samples_per_report"):
                profiler.on(**how)


def test_rates_are_per_second() -> None:
    moments = iter([0.0, 2.0])
    machine = Machine(lambda: next(moments))
    machine._before["sent"] -= 1_000_000
    assert machine.sample()["network"]["net_throughput_sent"] >= 500_000


def test_averages_reach_into_nested_values_and_cards_that_came_later() -> None:
    samples = [{"cpu": {"u": 1.0}, "gpu": {}}, {"cpu": {"u": 3.0}, "gpu": {"GPU-1": {"gpu_util": 50.0}}}]
    assert average(samples) == {"cpu": {"u": 2.0}, "gpu": {"GPU-1": {"gpu_util": 50.0}}}


def test_cards_that_do_not_tell_are_left_out() -> None:
    listed = "GPU-1, 30, 1024\nGPU-2, [N/A], 10\n"
    assert parse_gpus(listed) == {"GPU-1": {"gpu_util": 30.0, "gpu_free_memory": 1024 * 1024 * 1024.0}}
