"""torch_batch_process in a task: what is processed, stored and reported, and where it goes on from after a stop."""

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from task_around import FakeMaster, FakeRunner
from torch.utils.data import Dataset, IterableDataset, TensorDataset

from determined.pytorch import experimental
from determined.pytorch.experimental import TorchBatchProcessor, TorchBatchProcessorContext, torch_batch_process
from determined.wire.report import CheckpointReport, MetricReport, PreemptAck, Progress

Task = Callable[..., None]
Seen = list[Any]


def records(count: int) -> TensorDataset:
    return TensorDataset(torch.arange(count))


def recorder(seen: Seen, on_batch: Callable[[int], None] = lambda _batch_idx: None) -> type[TorchBatchProcessor]:
    class Recorder(TorchBatchProcessor):
        def __init__(self, context: TorchBatchProcessorContext) -> None:
            self.context = context

        def process_batch(self, batch: Any, batch_idx: int) -> None:
            seen.append((batch_idx, batch[0].tolist()))
            with self.context.upload_path() as path:
                (path / f"{batch_idx}.json").write_text(json.dumps(batch[0].tolist()))
            on_batch(batch_idx)

        def on_checkpoint_start(self) -> None:
            seen.append("checkpoint")

        def on_finish(self) -> None:
            seen.append("finish")

    return Recorder


def outputs(tmp_path: Path) -> dict[str, Any]:
    """Return what was stored, by its path below the output id; there is one id."""
    (stored,) = outputs_by_id(tmp_path).values()
    return stored


def outputs_by_id(tmp_path: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for path in (tmp_path / "checkpoints").glob("*/rank_*/**/*.json"):
        output, *rest = path.relative_to(tmp_path / "checkpoints").parts
        found.setdefault(output, {})["/".join(rest)] = json.loads(path.read_text())
    return found


def test_every_record_is_processed_once_in_order_and_the_position_is_saved(
    task: Task, runner: FakeRunner, tmp_path: Path
) -> None:
    task()
    seen: Seen = []
    torch_batch_process(recorder(seen), records(9), batch_size=2, checkpoint_interval=2)
    batches = [(0, [0, 1]), (1, [2, 3]), (2, [4, 5]), (3, [6, 7]), (4, [8])]
    assert seen == [*batches[:2], "checkpoint", *batches[2:4], "checkpoint", batches[4], "checkpoint", "finish"]
    assert outputs(tmp_path) == {f"rank_0/{number}.json": values for number, values in batches}
    saved = runner.wait_for(3, CheckpointReport)
    assert [report.steps for report in saved] == [2, 4, 5]
    (output,) = {report.metadata["default_output_uuid"] for report in saved}
    assert (tmp_path / "checkpoints" / output / "rank_0").is_dir()
    assert all("batch_completed.json" in report.resources for report in saved)
    assert [record.value for record in runner.wait_for(3, Progress)] == [0.4, 0.8, 1.0]


def test_a_paused_job_goes_on_right_after_the_last_batch(task: Task, runner: FakeRunner, tmp_path: Path) -> None:
    task()
    seen: Seen = []

    def pause(batch_idx: int) -> None:
        runner.control.preempt = batch_idx >= 2

    torch_batch_process(recorder(seen, pause), records(10), checkpoint_interval=4)
    assert seen == [*((n, [n]) for n in range(4)), "checkpoint"], "it leaves at the next checkpoint, unfinished"
    (saved,) = runner.wait_for(1, CheckpointReport)
    assert len(runner.wait_for(1, PreemptAck)) == 1
    runner.control.preempt = False
    task(latest_checkpoint=saved.uuid)
    torch_batch_process(recorder(seen), records(10), checkpoint_interval=4)
    assert [entry[0] for entry in seen if isinstance(entry, tuple)] == list(range(10))
    assert seen[-1] == "finish"
    assert set(outputs(tmp_path)) == {f"rank_0/{n}.json" for n in range(10)}


def test_a_job_that_is_paused_before_it_began_loads_nothing(task: Task, runner: FakeRunner) -> None:
    task()
    runner.control.preempt = True
    torch_batch_process(_failing("loaded"), records(3))
    assert len(runner.wait_for(1, PreemptAck)) == 1


def test_a_crashed_job_repeats_what_came_after_its_checkpoint(task: Task, runner: FakeRunner, tmp_path: Path) -> None:
    task()
    seen: Seen = []

    def crash(batch_idx: int) -> None:
        if batch_idx == 4:
            raise OSError("the disk is gone")

    with pytest.raises(OSError, match="disk is gone"):
        torch_batch_process(recorder(seen, crash), records(6), checkpoint_interval=2)
    latest = runner.wait_for(2, CheckpointReport)[-1]
    seen.clear()
    task(latest_checkpoint=latest.uuid)
    torch_batch_process(recorder(seen), records(6), checkpoint_interval=2)
    assert seen == [(4, [4]), (5, [5]), "checkpoint", "finish"]
    assert outputs(tmp_path) == {f"rank_0/{n}.json": [n] for n in range(6)}, "what was repeated is there once"


def test_a_job_that_crashed_after_its_last_checkpoint_only_finishes(task: Task, runner: FakeRunner) -> None:
    task()
    seen: Seen = []
    torch_batch_process(recorder(seen), records(2))
    (saved,) = runner.wait_for(1, CheckpointReport)
    seen.clear()
    task(latest_checkpoint=saved.uuid)
    torch_batch_process(recorder(seen), records(2))
    assert seen == ["finish"]
    assert len(runner.wait_for(1, CheckpointReport)) == 1


def test_a_job_whose_loader_has_workers_goes_on_where_it_stopped(
    task: Task, runner: FakeRunner, tmp_path: Path
) -> None:
    task()
    stop = 4
    options = {"num_workers": 1}
    torch_batch_process(recorder([]), records(9), max_batches=stop, checkpoint_interval=9, dataloader_kwargs=options)
    (saved,) = runner.wait_for(1, CheckpointReport)
    seen: Seen = []
    task(latest_checkpoint=saved.uuid)
    torch_batch_process(recorder(seen), records(9), checkpoint_interval=9, dataloader_kwargs=options)
    assert seen == [*((n, [n]) for n in range(stop, 9)), "checkpoint", "finish"]
    assert outputs(tmp_path) == {f"rank_0/{n}.json": [n] for n in range(9)}


def test_another_batch_size_goes_on_at_the_same_record_or_before_it(
    task: Task, runner: FakeRunner, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    task()
    seen: Seen = []
    torch_batch_process(recorder(seen), records(12), batch_size=2, max_batches=5)
    (saved,) = runner.wait_for(1, CheckpointReport)
    first = saved.metadata["default_output_uuid"]
    seen.clear()
    task(latest_checkpoint=saved.uuid)
    with caplog.at_level(logging.WARNING):
        torch_batch_process(recorder(seen), records(12), batch_size=4, checkpoint_interval=9)
    assert seen == [(2, [8, 9, 10, 11]), "checkpoint", "finish"]
    assert "2 records are processed again" in caplog.text
    stored = outputs_by_id(tmp_path)
    assert stored.pop(first) == {f"rank_0/{n}.json": [2 * n, 2 * n + 1] for n in range(5)}, "all as it was"
    ((second, rest),) = stored.items()
    assert rest == {"rank_0/2.json": [8, 9, 10, 11]}
    assert first in caplog.text
    assert second in caplog.text
    assert runner.wait_for(2, CheckpointReport)[-1].metadata["default_output_uuid"] == second


def test_a_checkpoint_of_a_training_is_no_position(task: Task, runner: FakeRunner) -> None:
    from determined import core

    task()
    with core.init() as core_context, core_context.checkpoint.store_path({"steps_completed": 3}) as (path, trained):
        (path / "weights").write_text("1")
    seen: Seen = []
    task(latest_checkpoint=trained)
    torch_batch_process(recorder(seen), records(2))
    assert seen[0] == (0, [0])


def test_reduced_values_are_reported_as_validation_metrics(task: Task, runner: FakeRunner) -> None:
    task()

    class Summing(TorchBatchProcessor):
        def __init__(self, context: TorchBatchProcessorContext) -> None:
            self.total: Any = context.wrap_reducer(sum, "total")

        def process_batch(self, batch: Any, batch_idx: int) -> None:
            self.total.update(int(batch[0].sum()))

    torch_batch_process(Summing, records(5), batch_size=2)
    (report,) = runner.wait_for(1, MetricReport)
    assert (report.group, report.steps, report.metrics) == ("validation", 3, {"total": 10})


def test_a_job_that_fails_while_it_finishes_reports_all_the_same_when_it_is_restarted(
    task: Task, runner: FakeRunner
) -> None:
    task()
    failures = [OSError("no space"), None]

    class Summing(TorchBatchProcessor):
        def __init__(self, context: TorchBatchProcessorContext) -> None:
            self.total: Any = context.wrap_reducer(sum, "total")

        def process_batch(self, batch: Any, batch_idx: int) -> None:
            self.total.update(int(batch[0].sum()))

        def on_finish(self) -> None:
            if failure := failures.pop(0):
                raise failure

    with pytest.raises(OSError, match="no space"):
        torch_batch_process(Summing, records(5), batch_size=2)
    torch_batch_process(Summing, records(5), batch_size=2)
    (report,) = runner.wait_for(1, MetricReport)
    assert (report.steps, report.metrics) == (3, {"total": 10})
    assert [saved.steps for saved in runner.wait_for(1, CheckpointReport)] == [3], "the one that was saved in the end"


def test_a_classic_search_is_told_that_the_work_is_done(task: Task, runner: FakeRunner, master: FakeMaster) -> None:
    task(searcher={"name": "single", "metric": "x", "max_length": {"batches": 100}})
    done: list[Any] = []

    def operation(_body: Any) -> tuple[int, Any]:
        return 200, {"op": {"validateAfter": {"length": "100"}}, "completed": bool(done)}

    def complete(body: Any) -> tuple[int, Any]:
        done.append(body)
        return 200, {}

    master.routes[("GET", "/api/v1/trials/7/searcher/operation")] = operation
    master.routes[("POST", "/api/v1/trials/7/searcher/completed_operation")] = complete
    torch_batch_process(recorder([]), records(2))
    assert done == [{"op": {"length": 100}, "searcherMetric": 1.0}]


def test_max_batches_bounds_each_worker(task: Task, runner: FakeRunner) -> None:
    task()
    seen: Seen = []
    torch_batch_process(recorder(seen), records(10), max_batches=3)
    assert seen == [(0, [0]), (1, [1]), (2, [2]), "checkpoint", "finish"]


@pytest.mark.parametrize("max_batches", [0, -1, 3])
def test_a_senseless_max_batches_is_ignored_with_a_warning(
    task: Task, runner: FakeRunner, caplog: pytest.LogCaptureFixture, max_batches: int
) -> None:
    task()
    seen: Seen = []
    with caplog.at_level(logging.WARNING):
        torch_batch_process(recorder(seen), records(2), max_batches=max_batches)
    assert len([entry for entry in seen if isinstance(entry, tuple)]) == 2
    assert f"max_batches={max_batches}" in caplog.text


def test_options_of_the_loader_are_heard(task: Task, runner: FakeRunner) -> None:
    task()
    seen: Seen = []
    options = {"batch_size": 2, "drop_last": True, "shuffle": False, "collate_fn": lambda rows: [torch.stack(
        [row[0] * 10 for row in rows])]}  # fmt: skip
    torch_batch_process(recorder(seen), records(5), dataloader_kwargs=options)
    assert seen[:2] == [(0, [0, 10]), (1, [20, 30])]
    assert seen[2:] == ["checkpoint", "finish"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"shuffle": True}, "shuffle"),
        ({"sampler": [1, 0]}, "sampler"),
        ({"batch_sampler": [[1], [0]]}, "batch_sampler"),
        ({"batch_size": 2}, "only one of them"),
    ],
)
def test_what_would_change_the_order_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        torch_batch_process(_failing("made"), records(2), batch_size=3, dataloader_kwargs=options)


class _Endless(IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        yield 1

    def __len__(self) -> int:
        return 1


class _Unmeasured(Dataset[int]):
    def __getitem__(self, index: int) -> int:
        return index


@pytest.mark.parametrize("dataset", [_Endless(), _Unmeasured()], ids=["iterable", "unmeasured"])
def test_a_dataset_that_cannot_be_shared_by_index_is_refused(dataset: Dataset[int]) -> None:
    with pytest.raises(ValueError, match="map-style dataset with a length"):
        torch_batch_process(_failing("made"), dataset)


@pytest.mark.parametrize("interval", [0, -3])
def test_an_interval_must_be_positive(interval: int) -> None:
    with pytest.raises(ValueError, match=f"checkpoint_interval={interval}"):
        torch_batch_process(_failing("made"), records(1), checkpoint_interval=interval)


@pytest.mark.parametrize("size", [0, True, 1.5])
def test_a_batch_size_must_be_a_positive_int(size: Any) -> None:
    with pytest.raises(ValueError, match="batch_size="):
        torch_batch_process(_failing("made"), records(1), batch_size=size)


def test_without_a_trial_around_it_says_how_to_submit(off_cluster: Path) -> None:
    with pytest.raises(RuntimeError, match="det experiment create"):
        torch_batch_process(_failing("made"), records(1))


def test_a_processor_asks_its_context(task: Task, runner: FakeRunner) -> None:
    task(hparams={"threshold": 0.5})
    answers: dict[str, Any] = {}

    class Asking(TorchBatchProcessor):
        def __init__(self, context: TorchBatchProcessorContext) -> None:
            model = context.prepare_model_for_inference(torch.nn.Dropout(0.5))
            answers.update(hparams=context.get_hparams(), training=model.training, device=context.device.type)
            answers.update(rank=context.get_distributed_rank(), size=context.get_distributed_size())
            answers["tensorboard"] = context.get_tensorboard_path().is_dir()
            self.context = context

        def process_batch(self, batch: Any, batch_idx: int) -> None:
            answers["moved"] = self.context.to_device({"a": [batch[0]]})["a"][0].tolist()
            self.context.report_metrics("inference", batch_idx, {"count": 1})

    torch_batch_process(Asking, records(1))
    device = "cuda" if torch.cuda.is_available() else "cpu"
    assert answers == {
        "hparams": {"threshold": 0.5}, "training": False, "device": device, "rank": 0, "size": 1, "tensorboard": True,
        "moved": [0],
    }  # fmt: skip
    (report,) = runner.wait_for(1, MetricReport)
    assert (report.group, report.metrics) == ("inference", {"count": 1})


def test_an_upload_that_fails_half_way_stores_nothing(task: Task, runner: FakeRunner, tmp_path: Path) -> None:
    task()

    class Failing(TorchBatchProcessor):
        def __init__(self, context: TorchBatchProcessorContext) -> None:
            self.context = context

        def process_batch(self, batch: Any, batch_idx: int) -> None:
            with self.context.upload_path() as path:
                (path / "half").write_text("x")
                raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        torch_batch_process(Failing, records(1))
    assert not list((tmp_path / "checkpoints").rglob("half"))


def test_the_public_names_are_upstreams() -> None:
    assert experimental.__all__ == [
        "TorchBatchProcessor", "TorchBatchProcessorContext", "get_default_device", "torch_batch_process",
    ]  # fmt: skip


def _failing(what: str) -> type[TorchBatchProcessor]:
    class Failing(TorchBatchProcessor):
        def __init__(self, context: TorchBatchProcessorContext) -> None:
            raise AssertionError(f"the processor was {what}")

        def process_batch(self, batch: Any, batch_idx: int) -> None:
            raise AssertionError("a batch was processed")

    return Failing
