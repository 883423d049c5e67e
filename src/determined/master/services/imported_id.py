"""External ids of experiments from other trackers: a digest of the store, a colon, the id that the store has. Pure."""

import hashlib
import re

_DIGITS = 12
_PREFIX = re.compile(rf"[0-9a-f]{{{_DIGITS}}}:")


def prefix(identity: str) -> str:
    """Return what the external ids of all experiments of a store begin with."""
    return f"{hashlib.sha256(identity.encode()).hexdigest()[:_DIGITS]}:"


def is_of_import(external_id: str) -> bool:
    """Check whether an external id has the form of those that imports make."""
    return _PREFIX.match(external_id) is not None
