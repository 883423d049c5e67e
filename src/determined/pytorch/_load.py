"""`load_trial_from_checkpoint_path`: a trial with its trained weights, built from what lies in a checkpoint."""

import ast
import contextlib
import dataclasses
import importlib
import json
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from determined._imports import import_from_path, modules_from
from determined.errors import TrialNotImportable
from determined.pytorch import _formats
from determined.pytorch._checkpoint import load_model
from determined.pytorch._context import PyTorchTrialContext
from determined.pytorch._origin import CODE, SCRIPT_DIRECTORY
from determined.pytorch._trial import PyTorchTrial
from determined.trial import local_core_context


class CheckpointLoadContext(PyTorchTrialContext):
    """A context for building a trial by hand, to load weights into: on the CPU, and nothing is wrapped.

    Args:
        hparams: what `get_hparam` answers.
        exp_conf: what `get_experiment_config` answers; its `reproducibility.experiment_seed`, or 0, is what
            `get_trial_seed` answers.

    Example:
        >>> trial = MyTrial(CheckpointLoadContext(hparams={"lr": 0.1}))
    """

    def __init__(self, hparams: dict[str, Any] | None = None, exp_conf: dict[str, Any] | None = None) -> None:
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
    trial_kwargs: dict[str, Any] | None = None,
    torch_load_kwargs: dict[str, Any] | None = None,
    **kwargs: Any,
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
        ValueError: both spellings of `torch_load_kwargs`, or a trial's class that cannot be told.
        RuntimeError: the trial's models are not those that were saved.

    Example:
        >>> path = client.get_checkpoint(uuid).download()
        >>> trial = pytorch.load_trial_from_checkpoint_path(path)
        >>> trial.model.eval()
    """
    options = _torch_options(torch_load_kwargs, kwargs)
    directory = Path(path)
    saved = _Saved.of(directory)
    context = CheckpointLoadContext(hparams=saved.hparams, exp_conf=saved.config)
    if trial_class is not None:
        trial = trial_class(context, **(trial_kwargs or {}))
    else:
        saved = saved.with_script_found(directory / CODE)
        with _stored_code(directory / CODE, saved):
            trial = _trial_class(directory, saved)(context, **(trial_kwargs or {}))
    _load_weights(context, directory, options)
    return trial


def _seed_of(config: dict[str, Any]) -> int:
    """No training is repeated by it: a trial that asks in its constructor shall be built all the same."""
    return int((config.get("reproducibility") or {}).get("experiment_seed") or 0)


@dataclass(frozen=True, slots=True)
class _Saved:
    """What a checkpoint says about its trial."""

    class_spec: str | None
    hparams: dict[str, Any] | None
    config: dict[str, Any] | None
    is_trainer: bool
    script_directory: str = ""

    @classmethod
    def of(cls, directory: Path) -> "_Saved":
        load_data, metadata = directory / _formats.LOAD_DATA_FILE, directory / _formats.METADATA_FILE
        if load_data.is_file():
            found = json.loads(load_data.read_text())
            return cls(
                found.get("trial_cls_spec"),
                found.get("hparams"),
                found.get("experiment_config"),
                bool(found.get("is_trainer")),
                found.get(SCRIPT_DIRECTORY) or "",
            )
        if not metadata.is_file():
            raise AssertionError(
                f"{directory} has neither {load_data.name} nor {metadata.name}; give the directory of a checkpoint"
            )
        found = json.loads(metadata.read_text())
        config = found.get("experiment_config") or {}
        return cls(config.get("entrypoint"), found.get("hparams"), config or None, is_trainer=False)

    def with_script_found(self, code: Path) -> "_Saved":
        """Upstream releases say only `__main__` of a class that was in the script that ran."""
        module, _, name = (self.class_spec or "").partition(":")
        if module != "__main__":
            return self
        script = _script_with(name.split(".")[0], code)
        spec = f"{'.'.join(script.with_suffix('').parts)}:{name}"
        return dataclasses.replace(self, class_spec=spec, script_directory=script.parent.as_posix())


def _torch_options(given: dict[str, Any] | None, older: dict[str, Any]) -> dict[str, Any]:
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


@contextlib.contextmanager
def _stored_code(code: Path, saved: _Saved) -> Iterator[None]:
    """Import from the checkpoint's code; a trial of an entrypoint also finds its files where it expects them."""
    if not code.is_dir():
        raise ValueError(f"{code} is not there, so the trial cannot be imported; pass trial_class=")
    place = code.absolute()
    imported: dict[str, ModuleType] = {}
    with (
        import_from_path(code, script_directory=saved.script_directory),
        contextlib.nullcontext() if saved.is_trainer else contextlib.chdir(code),
    ):
        yield
        if not saved.is_trainer:
            imported = modules_from(place)
    _keep(imported)


def _keep(modules: dict[str, ModuleType]) -> None:
    """For pickle, which looks classes up by name. A package of which a part is there already is left alone."""
    known = {name.partition(".")[0] for name in sys.modules}
    sys.modules.update({name: module for name, module in modules.items() if name.partition(".")[0] not in known})


def _trial_class(directory: Path, saved: _Saved) -> type[PyTorchTrial]:
    if saved.class_spec is None or ":" not in saved.class_spec:
        raise ValueError(
            f"{directory} names no trial class (entrypoint {saved.class_spec!r}); pass trial_class=, your PyTorchTrial"
        )
    module, _, name = saved.class_spec.partition(":")
    try:
        found: Any = importlib.import_module(module)
    except ImportError as err:
        raise TrialNotImportable(
            f"the trial {saved.class_spec} cannot be imported from {directory / CODE}: {err}; install what is "
            "missing, or import the class yourself and pass trial_class="
        ) from err
    for part in name.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, type) or not issubclass(found, PyTorchTrial):
        raise ValueError(f"{saved.class_spec} of {directory / CODE} is no PyTorchTrial; pass trial_class=")
    return found


def _script_with(name: str, code: Path) -> Path:
    """Relative to the code."""
    scripts = [path for path in sorted(code.rglob("*.py")) if _defines(path, name)]
    if len(scripts) != 1:
        raise ValueError(
            f"the trial class {name} was in the script that ran, and {len(scripts)} files of {code} define it; "
            "pass trial_class="
        )
    return scripts[0].relative_to(code)


def _defines(path: Path, name: str) -> bool:
    try:
        statements = ast.parse(path.read_bytes()).body
    except (SyntaxError, ValueError):
        return False
    return any(isinstance(statement, ast.ClassDef) and statement.name == name for statement in statements)


def _load_weights(context: PyTorchTrialContext, directory: Path, options: dict[str, Any]) -> None:
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
