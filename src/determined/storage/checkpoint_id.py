"""Name of a checkpoint: a UUID in its canonical form, which cannot be a path or the name of anything else."""

import uuid

from determined.errors import CheckpointNotFound


class InvalidCheckpointId(CheckpointNotFound, ValueError):
    """Raised for a string that is no name of a checkpoint: nothing is read or written under it."""


def is_checkpoint_id(name: object) -> bool:
    """Check for a UUID in lower case with hyphens, as `str(uuid.uuid4())` writes it."""
    if not isinstance(name, str):
        return False
    try:
        return str(uuid.UUID(name)) == name
    except ValueError:
        return False


def check_name(name: str) -> str:
    """Raise InvalidCheckpointId for what is no canonical UUID: a store must never be led to other directories."""
    if not is_checkpoint_id(name):
        raise InvalidCheckpointId(
            f"checkpoint id {name!r} is not a UUID such as 3f1d2a8e-0c1b-4f6a-8a53-d2b7c9e01f4a; "
            "use the one that was reported"
        )
    return name
