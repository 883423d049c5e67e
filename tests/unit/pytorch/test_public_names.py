"""The names and signatures that users' code has."""

import inspect

import pytest

from determined import pytorch

_NAMES = [
    "Batch",
    "CheckpointLoadContext",
    "ClipGradsL2Norm",
    "ClipGradsL2Value",
    "DataLoader",
    "Epoch",
    "LRScheduler",
    "MetricReducer",
    "PyTorchCallback",
    "PyTorchExperimentalContext",
    "PyTorchTrial",
    "PyTorchTrialContext",
    "PyTorchTrialController",
    "Reducer",
    "TorchData",
    "TrainUnit",
    "Trainer",
    "adapt_batch_sampler",
    "data_length",
    "init",
    "load_trial_from_checkpoint_path",
    "reset_parameters",
    "samplers",
    "to_device",
]

_SIGNATURES = {
    pytorch.Trainer.fit: [
        "checkpoint_period", "validation_period", "max_length", "reporting_period", "checkpoint_policy",
        "latest_checkpoint", "step_zero_validation", "test_mode", "profiling_enabled", "async_checkpointing",
    ],
    pytorch.init: ["hparams", "exp_conf", "distributed", "aggregation_frequency", "enable_tensorboard_logging"],
    pytorch.DataLoader.__init__: [
        "dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers", "collate_fn", "pin_memory",
        "drop_last", "timeout", "worker_init_fn", "multiprocessing_context", "generator", "prefetch_factor",
        "persistent_workers",
    ],
    pytorch.PyTorchTrialContext.step_optimizer: ["optimizer", "clip_grads", "auto_zero_grads", "scaler"],
    pytorch.PyTorchTrialContext.backward: ["loss", "gradient", "retain_graph", "create_graph"],
    pytorch.PyTorchTrialContext.wrap_lr_scheduler: ["lr_scheduler", "step_mode", "frequency"],
    pytorch.PyTorchTrialContext.wrap_optimizer: [
        "optimizer", "backward_passes_per_step", "fp16_compression", "average_aggregated_gradients",
    ],
    pytorch.PyTorchTrialContext.wrap_reducer: ["reducer", "name", "for_training", "for_validation"],
    pytorch.PyTorchTrial.train_batch: ["batch", "epoch_idx", "batch_idx"],
    pytorch.load_trial_from_checkpoint_path: ["path", "trial_class", "trial_kwargs", "torch_load_kwargs", "kwargs"],
}  # fmt: skip


def test_the_names_are_these() -> None:
    assert pytorch.__all__ == sorted(_NAMES)
    assert all(hasattr(pytorch, name) for name in _NAMES)


@pytest.mark.parametrize("call", _SIGNATURES, ids=lambda call: call.__qualname__)
def test_arguments_keep_their_names_and_order(call: object) -> None:
    found = [name for name in inspect.signature(call).parameters if name != "self"]  # type: ignore[arg-type]
    assert found == _SIGNATURES[call]  # type: ignore[index]
