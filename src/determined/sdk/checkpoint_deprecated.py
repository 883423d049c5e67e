"""Old names on Checkpoint: they warn and do what they did, until 0.19."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from determined._frameworks import framework_of_checkpoint, frameworks
from determined._json import JsonObject
from determined.sdk.deprecation import warn_deprecated


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


def _load(directory: Path, tags: list[str] | None, kwargs: JsonObject) -> Any:
    load_data, metadata = _read(directory / "load_data.json"), _read(directory / "metadata.json")
    framework = framework_of_checkpoint(str(load_data.get("trial_type")) if load_data else None, metadata)
    if framework is None:
        *others, last = [each.trial_type for each in reversed(frameworks()) if each.trial_type]
        raise ValueError(
            f"{directory} is no checkpoint of a {', '.join(others)} or {last} (its trial type is "
            f"{load_data.get('trial_type')!r}); read its files as they were written"
        )
    return framework.load("_load").load_stored(str(directory), tags, kwargs)


def _read(path: Path) -> JsonObject:
    return dict(json.loads(path.read_text())) if path.is_file() else {}
