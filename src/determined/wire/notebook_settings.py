"""Settings of the program of a notebook: written by the master, read by `determined.exec.notebook`."""

from determined._json import JsonObject
from determined.wire.codec import Wire


class SavedFiles(Wire):
    """Place where a user's notebooks outlive their tasks."""

    storage: JsonObject  # a `checkpoint_storage` section, credentials included
    prefix: str  # the user's directory in it

    def __repr__(self) -> str:
        return f"SavedFiles(prefix={self.prefix!r})"


class NotebookSettings(Wire):
    token: str  # of the Jupyter server
    idle_type: str = "kernels_or_terminals"  # `notebook_idle_type` of the config
    reports_idle: bool = False  # the task has an idle timeout, so somebody reads the reports
    saved_files: SavedFiles | None = None  # None: the work directory is one that stays
