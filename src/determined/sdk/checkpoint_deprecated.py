"""Old names on Checkpoint: they warn and do what they did, until 0.19."""

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from determined.sdk.deprecation import warn_deprecated

# By name, as each needs its framework.
_LOADERS = {
    "PyTorchTrial": ("determined.pytorch", "load_trial_from_checkpoint_path"),
    "TFKerasTrial": ("determined.keras", "load_model_from_checkpoint_path"),
    "EstimatorTrial": ("determined.estimator", "load_estimator_from_checkpoint_path"),
}


class DeprecatedCheckpointMethods:
    """Mixed into Checkpoint."""

    download: Callable[..., str]

    def load(self, path: str | None = None, tags: list[str] | None = None, **kwargs: Any) -> Any:
        """Deprecated: `download`, then the load function of the training API.

        Args:
            path: where to download it to.
            tags: of a SavedModel, for an Estimator.
            kwargs: for `torch.load`.

        Returns:
            The trial of a PyTorchTrial, the model of a TFKerasTrial or an Estimator.
        """
        warn_deprecated("Checkpoint.load()", "Checkpoint.download() and e.g. pytorch.load_trial_from_checkpoint_path()")
        return _load(Path(self.download(path)), tags, kwargs)

    @staticmethod
    def load_from_path(path: str, tags: list[str] | None = None, **kwargs: Any) -> Any:
        """Deprecated: the load function of the training API, such as `pytorch.load_trial_from_checkpoint_path`."""
        warn_deprecated("Checkpoint.load_from_path()", "e.g. pytorch.load_trial_from_checkpoint_path()")
        return _load(Path(path), tags, kwargs)


def _load(directory: Path, tags: list[str] | None, kwargs: dict[str, Any]) -> Any:
    trial_type = _trial_type(directory)
    if trial_type not in _LOADERS:
        raise ValueError(
            f"{directory} is no checkpoint of a PyTorchTrial, TFKerasTrial or EstimatorTrial (its trial type is "
            f"{trial_type!r}); read its files as they were written"
        )
    module, function = _LOADERS[trial_type]
    chosen = {"torch_load_kwargs": kwargs or None} if trial_type == "PyTorchTrial" else {"tags": tags}
    return getattr(import_module(module), function)(str(directory), **chosen)


def _trial_type(directory: Path) -> str | None:
    """What `load_data.json` says; releases before 0.17.8 wrote none, and named framework and format instead."""
    load_data = _read(directory / "load_data.json")
    if load_data:
        return load_data.get("trial_type")
    metadata = _read(directory / "metadata.json")
    if str(metadata.get("framework")).startswith("torch"):
        return "PyTorchTrial"
    if str(metadata.get("framework")).startswith("tensorflow"):
        return "EstimatorTrial" if metadata.get("format") == "saved_model" else "TFKerasTrial"
    return None


def _read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text())) if path.is_file() else {}
