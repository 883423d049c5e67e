"""`determined.experimental.core_v2`: module variables over a Core API context of a trial."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from determined.experimental import core_v2, unmanaged

Task = Callable[..., Any]


@pytest.fixture(autouse=True)
def _closed() -> Any:
    yield
    core_v2.close()


def test_in_a_trial_the_module_reports_and_saves(task: Task, runner: Any, master: Any, tmp_path: Path) -> None:
    task()
    master.routes["POST", "/api/v1/runs/start"] = {"storageId": 1}
    core_v2.init(config=core_v2.Config(name="ignored here"), checkpoint_storage=str(tmp_path / "stored"))
    assert core_v2.info is not None and core_v2.train is not None and core_v2.checkpoint is not None
    core_v2.train.report_training_metrics(steps_completed=1, metrics={"loss": 0.5})
    with core_v2.checkpoint.store_path({"steps_completed": 1}) as (path, uuid):
        (path / "state").write_text("1")
    assert (tmp_path / "stored" / uuid / "state").read_text() == "1"
    assert core_v2.preempt is not None and not core_v2.preempt.should_preempt()
    assert core_v2.url_reverse_webui_exp_view().endswith("/det/experiments/3")
    core_v2.close()
    assert (core_v2.train, core_v2.info) == (None, None)


def test_a_second_init_closes_the_first(task: Task) -> None:
    task()
    core_v2.init()
    first = core_v2._context
    core_v2.init()
    assert core_v2._context is not first


def test_as_a_context_it_is_core_init(task: Task) -> None:
    task()
    with core_v2.init_context() as context:
        context.train.report_training_metrics(1, {"loss": 1.0})


def test_outside_of_a_trial_one_sentence_says_what_to_do(off_cluster: Path) -> None:
    for call in (core_v2.init, core_v2.init_context):
        with pytest.raises(NotImplementedError, match=r"detached mode\) is not implemented yet; submit this script"):
            call(config=core_v2.Config(name="n"))
    with pytest.raises(NotImplementedError, match="not implemented yet"):
        unmanaged.init(unmanaged_info=None)
    with pytest.raises(RuntimeError, match=r"call core_v2.init\(\)"):
        core_v2.url_reverse_webui_exp_view()


def test_the_older_configs_warn() -> None:
    with pytest.warns(FutureWarning, match="use core_v2.Config"):
        assert core_v2.DefaultConfig(name="n").name == "n"
