"""PyTorchCallback: a class that does nothing unless it is overridden."""

import inspect

from determined.pytorch import PyTorchCallback

_SIGNATURES = {
    "on_trial_startup": ["first_batch_idx", "checkpoint_uuid"],
    "on_trial_shutdown": [],
    "on_training_start": [],
    "on_training_epoch_start": ["epoch_idx"],
    "on_training_epoch_end": ["epoch_idx"],
    "on_training_workload_end": ["avg_metrics", "batch_metrics"],
    "on_before_optimizer_step": ["parameters"],
    "on_validation_start": [],
    "on_validation_epoch_start": [],
    "on_validation_epoch_end": ["outputs"],
    "on_validation_end": ["metrics"],
    "on_validation_step_start": [],
    "on_validation_step_end": ["metrics"],
    "on_checkpoint_load_start": ["checkpoint"],
    "on_checkpoint_save_start": ["checkpoint"],
    "on_checkpoint_end": ["checkpoint_dir"],
    "on_checkpoint_write_end": ["checkpoint_dir"],
    "on_checkpoint_upload_end": ["uuid"],
}


def test_a_callback_has_every_hook_of_every_release() -> None:
    callback = PyTorchCallback()
    hooks = {name: list(inspect.signature(getattr(callback, name)).parameters) for name in _SIGNATURES}
    assert hooks == _SIGNATURES
    assert {name for name in dir(callback) if name.startswith("on_")} == set(_SIGNATURES)


def test_a_plain_callback_does_nothing_and_keeps_nothing() -> None:
    callback = PyTorchCallback()
    for name, parameters in _SIGNATURES.items():
        assert getattr(callback, name)(*parameters) is None
    callback.load_state_dict({"anything": 1})
    assert callback.state_dict() == {}
