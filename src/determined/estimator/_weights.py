"""Weights: the variables of a training session as files, in the directory of the estimator and in checkpoints."""

import shutil
from pathlib import Path

import tensorflow as tf

from determined import core
from determined.errors import CheckpointNotFound

_PREFIX, _INDEX = "model.ckpt", ".index"


class Weights:
    """Writes the chief's variables whenever somebody needs them, and once for all who do at the same batch.

    Args:
        directory: the estimator's; a session begins with what lies there.
        dist: the ranks, which all validate with what the chief has: moving averages may differ among them.
    """

    def __init__(self, directory: Path, dist: core.DistributedContext) -> None:
        self._directory = directory
        self._dist = dist
        self._written: tuple[int, Path] | None = None

    def written(self, saver: "tf.compat.v1.train.Saver", session: "tf.compat.v1.Session", batches: int) -> Path:
        """Write weights on the chief; their path as TensorFlow names it (files have this name and an ending)."""
        if self._written is None or self._written[0] != batches:
            name = str(self._directory / _PREFIX)
            prefix = saver.save(session, name, global_step=batches, write_meta_graph=False)
            self._written = batches, Path(prefix)
        return self._written[1]

    def everywhere(self, saver: "tf.compat.v1.train.Saver", session: "tf.compat.v1.Session", batches: int) -> Path:
        """Collective: the chief's on every rank."""
        prefix = self.written(saver, session, batches) if self._dist.rank == 0 else None
        if self._dist.size == 1:
            assert prefix is not None
            return prefix
        files = self._dist.broadcast(None if prefix is None else {file.name: file.read_bytes() for file in _of(prefix)})
        if prefix is not None:
            return prefix
        for name, content in files.items():
            (self._directory / name).write_bytes(content)
        (index,) = (name for name in files if name.endswith(_INDEX))
        received: Path = self._directory / index.removesuffix(_INDEX)
        self._drop_but(received)
        return received

    def put_back(self, checkpoint: Path) -> None:
        """Have the next session begin with the variables of a checkpoint.

        Raises:
            CheckpointNotFound: the directory has none of an estimator.
        """
        state = tf.train.get_checkpoint_state(str(checkpoint))
        name = Path(state.model_checkpoint_path).name if state is not None else ""
        files = _of(checkpoint / name) if name else []
        if not files:
            raise CheckpointNotFound(
                f"{checkpoint} has no weights of an estimator ({_PREFIX}-*.index, and a file `checkpoint` that names "
                "it); go on from a checkpoint of an EstimatorTrial"
            )
        _copy(files, self._directory, name)

    def _drop_but(self, kept: Path) -> None:
        """Drop files as the saver does on the chief. What a checkpoint brought stays."""
        if self._written is not None and self._written[1] != kept:
            for file in _of(self._written[1]):
                file.unlink()
        self._written = 0, kept


def copy_weights(prefix: Path, checkpoint: Path) -> None:
    """Copy weights into the directory of a checkpoint, from where `put_back` takes them."""
    _copy(_of(prefix), checkpoint, prefix.name)


def _of(prefix: Path) -> list[Path]:
    return sorted(prefix.parent.glob(f"{prefix.name}.*"))


def _copy(files: list[Path], directory: Path, name: str) -> None:
    for file in files:
        shutil.copyfile(file, directory / file.name)
    tf.compat.v1.train.update_checkpoint_state(str(directory), name)
