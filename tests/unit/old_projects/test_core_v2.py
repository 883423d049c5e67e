"""`determined.experimental.core_v2`: module variables over a Core API context."""

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


def test_without_a_length_there_is_no_searcher(task: Task) -> None:
    task()
    core_v2.init()
    assert core_v2.searcher is None


def test_outside_of_a_trial_a_config_is_needed(off_cluster: Path) -> None:
    for call in (core_v2.init, core_v2.init_context):
        with pytest.raises(ValueError, match=r"pass config=core_v2.Config"):
            call()
    with pytest.raises(ValueError, match="make it with create_unmanaged_cluster_info"):
        unmanaged.init(unmanaged_info=None)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match=r"call core_v2.init\(\)"):
        core_v2.url_reverse_webui_exp_view()


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_the_two_older_configs_become_one() -> None:
    defaults = core_v2.DefaultConfig(name="n", hparams={"lr": 1}, workspace="w")
    merged = core_v2._merged(None, defaults, core_v2.UnmanagedConfig(workspace="x", external_experiment_id="e"))
    assert merged == core_v2.Config(name="n", hparams={"lr": 1}, workspace="x", external_experiment_id="e")


def test_the_older_configs_warn() -> None:
    with pytest.warns(FutureWarning, match="use core_v2.Config"):
        assert core_v2.DefaultConfig(name="n").name == "n"


class Ends:
    """Delivery that keeps how the context ended."""

    def __init__(self) -> None:
        self.errors: list[BaseException | None] = []

    def start(self) -> None: ...

    def close(self, error: BaseException | None) -> None:
        self.errors.append(error)


def opened() -> Ends:
    core_v2.init()
    assert core_v2._context is not None
    core_v2._context._delivery = ends = Ends()
    return ends


def test_close_in_a_finally_block_ends_with_the_error(task: Task) -> None:
    task()
    ends, failure = opened(), RuntimeError("on purpose")
    with pytest.raises(RuntimeError):
        try:
            raise failure
        finally:
            core_v2.close()
    assert ends.errors == [failure]


def test_close_without_an_error_ends_well(task: Task) -> None:
    task()
    ends = opened()
    core_v2.close()
    assert ends.errors == [None]


def test_a_part_that_fails_to_close_does_not_keep_the_others_open(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    task()
    ends, failure, closed = opened(), OSError("on purpose"), []
    context = core_v2._context
    assert context is not None and context._reporter is not None

    def fail() -> None:
        raise failure

    monkeypatch.setattr(context.preempt, "close", fail)
    monkeypatch.setattr(context._reporter, "close", lambda: closed.append("reporter"))
    with pytest.raises(OSError, match="on purpose"):
        core_v2.close()
    assert (ends.errors, closed) == ([failure], ["reporter"])
    assert core_v2._context is None


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_trial_warns_of_deprecated_configs_that_it_does_not_use(task: Task, caplog: pytest.LogCaptureFixture) -> None:
    task()
    core_v2.init(defaults=core_v2.DefaultConfig(name="n"))
    assert [record.levelname for record in caplog.records if "this is a trial" in record.message] == ["WARNING"]
