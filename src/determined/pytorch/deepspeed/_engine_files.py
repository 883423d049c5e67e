"""Files that DeepSpeed's engines write by their checkpoint engine: copied in memory in place of being written, once it
is known how large they are."""

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from deepspeed.runtime.checkpoint_engine import TorchCheckpointEngine

from determined.pytorch._saves import OpenSave


class EngineFiles:
    """Files of this rank's part of the engines.

    Attributes:
        size: bytes of the last save; None before the first one, and where others than `torch.save` write them.
    """

    def __init__(self) -> None:
        self.size: int | None = None

    @contextlib.contextmanager
    def taken(self, engines: Iterable[Any], save: OpenSave) -> Iterator[None]:
        """Have what engines save within the block written as `save` does it.

        Args:
            engines: as `deepspeed.initialize` has made them.
            save: writes at once, or copies.
        """
        made = list(engines)
        if not all(type(engine.checkpoint_engine) is TorchCheckpointEngine for engine in made):
            yield
            return
        size = 0

        def write(state: object, path: str) -> None:
            nonlocal size
            size += save.write_state(str(Path(path).relative_to(save.path)), state).size

        with contextlib.ExitStack() as originals:
            for engine in made:
                originals.callback(setattr, engine, "checkpoint_engine", engine.checkpoint_engine)
                engine.checkpoint_engine = _Taking(engine.checkpoint_engine, write)
            yield
        self.size = size


class _Taking:
    """Checkpoint engine of DeepSpeed that hands on what it has to save."""

    def __init__(self, original: TorchCheckpointEngine, write: Any) -> None:
        self._original = original
        self._write = write

    def save(self, state_dict: object, path: str) -> None:
        self._write(state_dict, path)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)
