"""Settings of a notebook's program: token, idle rule, and where the owner's notebooks outlive the task."""

import msgspec

from determined._json import JsonObject
from determined.config.job import JobConfig
from determined.wire.notebook_settings import NotebookSettings, SavedFiles


def notebook_settings(
    token: str,
    config: JobConfig,
    *,
    idle_timeout: float | None,
    storage: JsonObject,
    cluster_id: str,
    user_id: int,
) -> JsonObject:
    """Return the settings.

    Args:
        token: of the Jupyter server; valid as long as the allocation.
        config: the task's own.
        idle_timeout: the one that counts, the cluster's default included.
        storage: the cluster's own `checkpoint_storage` section, with credentials.
        user_id: of the owner.
    """
    saved = SavedFiles(storage=storage, prefix=saved_files_prefix(cluster_id, user_id))
    settings = NotebookSettings(
        token=token,
        idle_type=config.notebook_idle_type,
        reports_idle=idle_timeout is not None,
        saved_files=None if config.work_dir else saved,
    )
    plain: JsonObject = msgspec.to_builtins(settings)
    return plain


def saved_files_of_users(cluster_id: str) -> str:
    """Return where in a storage each user has a directory of notebooks, by the user's id."""
    return f"{cluster_id}/notebooks"


def saved_files_prefix(cluster_id: str, user_id: int) -> str:
    """Return where in a storage the notebooks of a user lie: by id, for a name may become somebody else's."""
    return f"{saved_files_of_users(cluster_id)}/user-{user_id}"
