"""`load_trial_from_checkpoint_path`: a trial with its trained weights, built from what lies in a checkpoint."""

import warnings
from pathlib import Path

from determined._json import JsonObject
from determined.config import ExperimentConfig
from determined.pytorch import _first_interface, _formats
from determined.pytorch._checkpoint import load_model
from determined.pytorch._context import PyTorchTrialContext
from determined.pytorch._trial import PyTorchTrial
from determined.trial import StoredTrial, local_core_context, stored_class


class CheckpointLoadContext(PyTorchTrialContext):
    """A context for building a trial by hand, to load weights into: on the CPU, and nothing is wrapped.

    Args:
        hparams: what `get_hparam` answers.
        exp_conf: what `get_experiment_config` answers; its `reproducibility.experiment_seed`, or 0, is what
            `get_trial_seed` answers.

    Example:
        >>> trial = MyTrial(CheckpointLoadContext(hparams={"lr": 0.1}))
    """

    def __init__(self, hparams: JsonObject | None = None, exp_conf: JsonObject | None = None) -> None:
        super().__init__(
            core_context=local_core_context(),
            trial_seed=_seed_of(exp_conf or {}),
            hparams=hparams,
            exp_conf=exp_conf,
            slots_per_trial=1,
            num_gpus=0,
            managed_training=False,
            enable_tensorboard_logging=False,
        )


def load_trial_from_checkpoint_path(
    path: str,
    trial_class: type[PyTorchTrial] | None = None,
    trial_kwargs: JsonObject | None = None,
    torch_load_kwargs: JsonObject | None = None,
    **kwargs: object,
) -> PyTorchTrial:
    """The trial of a checkpoint, with the weights of its models.

    Importing the trial runs the code that lies in the checkpoint. The weights themselves are loaded without running
    anything, unless `torch_load_kwargs` says so.

    The modules of a trial that ran as `entrypoint: model_def:MyTrial` can be imported from then on, unless others have
    their names, so that the trial can be pickled. Those of a script are forgotten again.

    Args:
        path: a directory that holds a checkpoint, as `Checkpoint.download` returns it.
        trial_class: the trial's class, for code that cannot be imported from the checkpoint, or that you trust more.
        trial_kwargs: further arguments of the trial's constructor.
        torch_load_kwargs: for `torch.load`; ours are `map_location="cpu", weights_only=True`.
        kwargs: the same, as older releases took them.

    Returns:
        The trial. Its models are in train mode: call `.eval()` on them before using them.

    Raises:
        AssertionError: the directory has neither load_data.json nor metadata.json.
        CheckpointNotFound: it has no weights of a PyTorchTrial.
        TrialNotImportable: its code, or a library that the code needs, is not found here.
        UnsafeCheckpoint: the weights come with objects whose loading would run code.
        ValueError: both spellings of `torch_load_kwargs`, a trial's class that cannot be told, or a DeepSpeedTrial's.
        RuntimeError: the trial's models are not those that were saved.

    Example:
        >>> path = client.get_checkpoint(uuid).download()
        >>> trial = pytorch.load_trial_from_checkpoint_path(path)
        >>> trial.model.eval()
    """
    options = _torch_options(torch_load_kwargs, kwargs)
    directory = Path(path)
    _refuse_deepspeed(directory)
    saved = StoredTrial.of(directory)
    context = CheckpointLoadContext(hparams=saved.hparams, exp_conf=saved.config)
    if trial_class is not None:
        trial = trial_class(context, **(trial_kwargs or {}))
    else:
        with stored_class(directory, saved, PyTorchTrial) as stored_trial_class:
            trial = stored_trial_class(context, **(trial_kwargs or {}))
    _first_interface.adopt(trial, context)
    _load_weights(context, directory, options)
    return trial


def load_stored(path: str, tags: list[str] | None, kwargs: JsonObject) -> PyTorchTrial:
    """Load a checkpoint as `Checkpoint.load` did, whose `tags` are not for this API."""
    return load_trial_from_checkpoint_path(path, torch_load_kwargs=kwargs or None)


def _refuse_deepspeed(directory: Path) -> None:
    if (directory / "det_state_dict_rank0.pth").is_file():
        raise ValueError(
            f"{directory} is a checkpoint of a DeepSpeedTrial, whose weights DeepSpeed reads: with ZeRO "
            "deepspeed.utils.zero_to_fp32.get_fp32_state_dict_from_zero_checkpoint(path, tag='model0'), else "
            "torch.load of model0/mp_rank_00_model_states.pt, under 'module'"
        )


def _seed_of(config: JsonObject) -> int:
    """Return a seed for a trial that asks for one in its constructor; no training is repeated by it."""
    return ExperimentConfig.load(config).reproducibility.experiment_seed or 0


def _torch_options(given: JsonObject | None, older: JsonObject) -> JsonObject:
    if not older:
        return given or {}
    if given is not None:
        raise ValueError(
            f"both torch_load_kwargs and {sorted(older)} are given; put all of them into torch_load_kwargs"
        )
    warnings.warn(
        f"load_trial_from_checkpoint_path(..., {', '.join(sorted(older))}) is deprecated; "
        "pass torch_load_kwargs={...} instead",
        FutureWarning,
        stacklevel=3,
    )
    return older


def _load_weights(context: PyTorchTrialContext, directory: Path, options: JsonObject) -> None:
    state = _formats.read_state(directory, options=options)
    if _formats.has_shards(directory):
        from determined.pytorch import _shards

        _shards.load(state, directory, lambda _place: None, key="models_state_dict")
    saved = state["models_state_dict"]
    if len(saved) != len(context.models):
        raise RuntimeError(
            f"the checkpoint has {len(saved)} model(s), and the trial wraps {len(context.models)}; "
            "pass the trial_class that saved it"
        )
    for number, (model, weights) in enumerate(zip(context.models, saved, strict=True)):
        load_model(context._bare(model), weights, number)
