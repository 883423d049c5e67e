"""PyTorchTrialContext alone in one process: what it wraps, what it refuses, what it knows."""

import copy
import json
import logging
from pathlib import Path
from typing import Any

import pytest
import torch
from made_context import made_context

import determined as det
from determined import core
from determined.errors import InternalException, InvalidExperimentException
from determined.pytorch import LRScheduler, PyTorchTrialContext
from determined.trial import EnvContext, ExperimentConfig, ScalarWriter

StepMode = LRScheduler.StepMode


def _wrapped(context: Any) -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    model = context.wrap_model(torch.nn.Linear(2, 1))
    return model, context.wrap_optimizer(torch.optim.SGD(model.parameters(), lr=0.1))


def test_what_was_wrapped_is_remembered_in_order(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    first, second = torch.nn.Linear(2, 1), torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(first.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    assert context.wrap_model(first) is first
    assert context.wrap_model(second) is second
    assert context.wrap_optimizer(optimizer) is optimizer
    assert context.wrap_lr_scheduler(scheduler, StepMode.STEP_EVERY_BATCH) is scheduler
    assert (context.models, context.optimizers) == ([first, second], [optimizer])
    assert isinstance(context.lr_schedulers[0], LRScheduler)


def test_a_cpu_is_the_device_where_there_is_no_gpu(tmp_path: Path) -> None:
    assert made_context(tmp_path).device == torch.device("cpu")


def test_a_compiled_model_computes_the_same_and_is_saved_under_its_own_names(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    plain = torch.nn.Linear(2, 1)
    model = context.wrap_model(copy.deepcopy(plain), compile={"backend": "eager"})
    x = torch.ones(3, 2)
    assert torch.equal(model(x), plain(x))
    assert set(context._bare(model).state_dict()) == {"weight", "bias"}
    assert model.in_features == 2


def test_a_model_compiled_by_the_user_is_saved_under_its_own_names(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    inner = torch.nn.Linear(2, 1)
    model = context.wrap_model(torch.compile(inner, backend="eager"))
    assert context._bare(model) is inner


def test_channels_last_lays_out_weights_and_batches(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    model = context.wrap_model(torch.nn.Conv2d(3, 4, 3), memory_format=torch.channels_last)
    assert model.weight.is_contiguous(memory_format=torch.channels_last)
    images, sizes, labels = torch.rand(2, 3, 8, 8), torch.ones(1, 2, 3, 4, dtype=torch.long), torch.zeros(2)
    moved = context.to_device({"images": [images], "rest": (sizes, labels)})
    assert moved["images"][0].is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(moved["images"][0], images)
    assert moved["rest"][0].is_contiguous()


def test_batches_keep_their_layout_without_a_memory_format(tmp_path: Path) -> None:
    images = torch.rand(2, 3, 8, 8)
    assert made_context(tmp_path).to_device((images,))[0] is images


def test_sharding_on_one_slot_changes_nothing(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    model = torch.nn.Linear(2, 1)
    assert context.wrap_model(model, shard=True) is model
    assert not context._is_sharded()


def test_only_torch_objects_are_wrapped(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    with pytest.raises(TypeError, match=r"wrap_model got a str; pass a torch.nn.Module"):
        context.wrap_model("net")
    with pytest.raises(TypeError, match=r"wrap_optimizer got a str; pass a torch.optim.Optimizer"):
        context.wrap_optimizer("adam")


def test_an_optimizer_needs_a_backward_pass(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    optimizer = torch.optim.SGD(torch.nn.Linear(2, 1).parameters(), lr=0.1)
    with pytest.raises(InvalidExperimentException, match=r"wrap_optimizer\(backward_passes_per_step=0\)"):
        context.wrap_optimizer(optimizer, backward_passes_per_step=0)


def test_a_scheduler_needs_a_wrapped_optimizer(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    stranger = torch.optim.SGD(torch.nn.Linear(2, 1).parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(stranger, 1)
    with pytest.raises(InvalidExperimentException, match=r"StepLR whose optimizer is not wrapped.*wrap_optimizer"):
        context.wrap_lr_scheduler(scheduler, StepMode.STEP_EVERY_EPOCH)
    with pytest.raises(TypeError, match=r"is not a learning-rate scheduler"):
        context.wrap_lr_scheduler(object(), StepMode.STEP_EVERY_EPOCH)


def test_a_scheduler_of_the_users_own_needs_no_attribute_optimizer(tmp_path: Path) -> None:
    class Own:
        steps = 0

        def step(self) -> None:
            self.steps += 1

        def state_dict(self) -> dict[str, Any]:
            return {"steps": self.steps}

        def load_state_dict(self, state_dict: dict[str, Any]) -> None:
            self.steps = state_dict["steps"]

    context = made_context(tmp_path)
    _wrapped(context)
    scheduler = context.wrap_lr_scheduler(Own(), StepMode.STEP_EVERY_BATCH)
    context.lr_schedulers[0]._after_batch(0, None, 1)
    assert scheduler.steps == 1


def test_reduce_on_plateau_is_stepped_by_hand(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    _, optimizer = _wrapped(context)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
    with pytest.raises(InvalidExperimentException, match="MANUAL_STEP"):
        context.wrap_lr_scheduler(scheduler, StepMode.STEP_EVERY_EPOCH)
    assert context.wrap_lr_scheduler(scheduler, StepMode.MANUAL_STEP) is scheduler


def test_a_reducer_joins_the_metrics(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    reducer = context.wrap_reducer(sum, "total", for_training=False)
    reducer.update(1)
    reducer.update(2)
    assert context.reduce_metrics(for_training=False) == {"total": 3}
    assert context.reduce_metrics(for_training=True) == {}
    context.reset_reducers()
    assert context.reduce_metrics(for_training=False) == {"total": 0}


def test_batch_sizes_are_divided_among_slots(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    context = made_context(tmp_path, hparams={"global_batch_size": 10}, slots_per_trial=4)
    assert (context.get_per_slot_batch_size(), context.get_global_batch_size()) == (2, 8)
    assert "global_batch_size=10" in caplog.text


def test_a_script_is_asked_for_its_batch_size_only_when_it_asks(tmp_path: Path) -> None:
    context = made_context(tmp_path, hparams={"lr": 1})
    with pytest.raises(ValueError, match=r"get_per_slot_batch_size.*add global_batch_size"):
        context.get_per_slot_batch_size()


def test_a_trial_class_needs_a_batch_size_at_once(tmp_path: Path) -> None:
    env = EnvContext(experiment_config=ExperimentConfig(), hparams={"lr": 1})
    with pytest.raises(InvalidExperimentException, match="add global_batch_size"):
        made_context(tmp_path, hparams={"lr": 1}, env=env)
    assert made_context(tmp_path, env=env).env is env


@pytest.mark.parametrize("size", ["8", 8.0, True, 0])
def test_a_batch_size_is_a_number_of_records(tmp_path: Path, size: Any) -> None:
    with pytest.raises(InvalidExperimentException, match="global_batch_size"):
        made_context(tmp_path, hparams={"global_batch_size": size}).get_global_batch_size()


def test_what_pytorch_init_was_not_given_is_asked_for(tmp_path: Path) -> None:
    context = made_context(tmp_path, hparams=None, exp_conf=None, trial_seed=None)
    with pytest.raises(ValueError, match=r"pass hparams to pytorch.init"):
        context.get_hparam("lr")
    with pytest.raises(ValueError, match=r"pass exp_conf to pytorch.init"):
        context.get_data_config()
    with pytest.raises(InternalException, match="no seed"):
        context.get_trial_seed()


def test_facts_of_the_trial(tmp_path: Path) -> None:
    context = made_context(tmp_path, steps_completed=12)
    assert context.get_data_config() == {"url": "here"}
    assert context.get_hparam("lr") == 0.1
    assert (context.get_trial_seed(), context.get_initial_batch()) == (7, 12)
    assert (context.get_experiment_id(), context.get_trial_id()) == (0, 0)
    assert isinstance(context, det.TrialContext)
    assert (context.env.hparams, context.env.trial_seed) == (context.get_hparams(), 7)
    assert context.profiler is context._core.profiler


def test_before_training_there_is_no_position(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    for ask in (
        context.is_epoch_start,
        context.is_epoch_end,
        context.current_train_epoch,
        context.current_train_batch,
    ):
        with pytest.raises(InternalException, match="not started"):
            ask()


def test_position_follows_the_batch(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    context._epoch_len = 4
    seen = []
    for batch in (0, 3, 4):
        context._before_batch(batch)
        seen.append((context.current_train_batch(), context.current_train_epoch(), context.is_epoch_start()))
        assert context.is_epoch_end() == (batch == 3)
    assert seen == [(0, 0, True), (3, 0, False), (4, 1, True)]


def test_data_without_length_is_one_endless_epoch(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    context._before_batch(100)
    assert (context.current_train_epoch(), context.is_epoch_start(), context.is_epoch_end()) == (0, False, False)


def test_tensorboard_is_written_without_tensorboard(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    writer = context.get_tensorboard_writer()
    assert writer is context.get_tensorboard_writer()
    writer.add_scalar("lr", torch.tensor(0.5), 3)
    context._close()
    (events,) = (tmp_path / "tensorboard").iterdir()
    assert b"lr" in events.read_bytes()
    if isinstance(writer, ScalarWriter):
        with pytest.raises(AttributeError, match="pip install tensorboard"):
            writer.add_image("x", None, 1)


def test_tensorboard_logging_is_on_until_it_is_switched_off(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    assert context.get_enable_tensorboard_logging()
    context.set_enable_tensorboard_logging(False)
    assert not context.get_enable_tensorboard_logging()
    with pytest.raises(AssertionError, match="True or False"):
        context.set_enable_tensorboard_logging("no")


def test_a_profiler_traces_the_batches_it_was_asked_for(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    schedule = torch.profiler.schedule(wait=1, warmup=1, active=1, repeat=1)
    context.set_profiler(schedule=schedule, activities=[torch.profiler.ProfilerActivity.CPU])
    for batch in range(4):
        context._before_batch(batch)
        torch.ones(2).add_(1)
        context._after_batch()
    context._close()
    (trace,) = (tmp_path / "tensorboard").glob("*.pt.trace.json")
    assert any("aten::add_" in str(event.get("name")) for event in json.loads(trace.read_text())["traceEvents"])


def test_a_context_for_debugging_is_made_from_a_config() -> None:
    space = {"lr": {"type": "double", "minval": 0.1, "maxval": 0.2}, "global_batch_size": 16}
    context = PyTorchTrialContext.from_config({"hyperparameters": space, "data": {"a": 1}})
    assert 0.1 <= context.get_hparam("lr") <= 0.2
    assert (context.get_per_slot_batch_size(), context.get_data_config()) == (16, {"a": 1})
    assert not context.env.managed_training


def test_nothing_is_put_around_a_model_that_is_not_trained(tmp_path: Path) -> None:
    several = core.DummyDistributedContext()
    several.size = 2  # no peers: wrapping for training would fail for want of them
    context = made_context(tmp_path, several, managed_training=False)
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    assert context.wrap_model(model, compile=True, shard=True) is model
    assert context.wrap_optimizer(optimizer) is optimizer
    assert context.configure_apex_amp([model], optimizer) == ([model], optimizer)


def test_asking_for_the_global_batch_size_as_a_hyperparameter_warns(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert made_context(tmp_path).get_hparam("global_batch_size") == 8
    assert "get_per_slot_batch_size" in caplog.text


def test_gradients_are_aggregated_over_at_least_one_batch(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="aggregation_frequency=0"):
        made_context(tmp_path, aggregation_frequency=0)
