"""Import that has begun and not ended: the next one must be the same, or remove it first."""

from determined._json import JsonObject
from determined.errors import FailedPrecondition
from determined.master.db.rows.imports import Import


def require_same(running: Import, kind: str, source_id: str, options: JsonObject) -> None:
    """Raise FailedPrecondition where the unfinished import is another one."""
    again = f"repeat it, or remove what it stored: det master import {running.kind} --abort"
    if (running.kind, running.source_id) != (kind, source_id):
        raise FailedPrecondition(f"the import {running.kind} from {running.source} is unfinished; {again}")
    if running.options != options:
        raise FailedPrecondition(
            f"an import with other options is unfinished ({running.options}); repeat it with these options, or "
            f"remove what it stored: det master import {running.kind} --abort"
        )
