"""A save that failed for lack of room: which store is full is added to the error, whatever raised it."""

import contextlib
import errno
import os
from collections.abc import Iterator

from determined.storage import StorageManager

_FULL = (errno.ENOSPC, errno.EDQUOT)
_HARDLY_ANY = 1 << 20  # bytes; libraries that write by themselves (torch.save) raise errors without a number


@contextlib.contextmanager
def naming_full_store(storage: StorageManager) -> Iterator[None]:
    """Add a note to an error of the block when the store has no room left."""
    try:
        yield
    except Exception as err:
        if storage.store_path_is_direct_access() and _is_for_lack_of_room(err, storage._base_path):
            err.add_note(
                f"checkpoint storage {storage._base_path} is full and this checkpoint is not stored; free space there, "
                "or keep fewer (checkpoint_storage: save_experiment_best, save_trial_best, save_trial_latest)"
            )
        raise


def _is_for_lack_of_room(err: BaseException, place: str) -> bool:
    if isinstance(err, OSError) and err.errno in _FULL:
        return True
    try:
        status = os.statvfs(place)
    except OSError:
        return False
    return status.f_bavail * status.f_frsize < _HARDLY_ANY
