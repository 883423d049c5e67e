"""Settings of the program of a TensorBoard: written by the master, read by `determined.exec.tensorboard`."""

from determined._json import JsonObject
from determined.wire.codec import Wire


class TensorboardSource(Wire):
    """Event files of an experiment or a trial."""

    name: str  # path below the log directory, which names its runs: `experiment/1/trial/2`
    storage: JsonObject  # a `checkpoint_storage` section, credentials included
    prefix: str  # the directory in it

    def __repr__(self) -> str:
        return f"TensorboardSource(name={self.name!r}, prefix={self.prefix!r})"


class TensorboardSettings(Wire):
    sources: list[TensorboardSource]
    args: list[str] = []  # `tensorboard_args` of the config
