"""`--abort`: removes an unfinished import as if it had never begun. Killed, it goes on when it runs again."""

from sqlalchemy import Connection

from determined.errors import FailedPrecondition
from determined.master.db.queries import import_removal, import_unit
from determined.master.db.rows.imports import Import, ImportUnit
from determined.master.importing.target import Target

BEFORE = "before"  # step whose notes hold the rows that the import wrote over
_AT_ONCE = 50  # experiments


def remove_unfinished(target: Target) -> Import:
    """Remove the import that has not ended.

    Raises:
        FailedPrecondition: there is none; what has ended is in use and stays.
    """
    running = target.read(import_unit.running)
    if running is None:
        raise FailedPrecondition(
            "no import is unfinished. One that has ended is in use: restore an earlier backup, det master restore"
        )
    units = target.read(lambda conn: import_unit.units(conn, running.id))
    ids = {step: _ids(units, step) for step in ("experiments", "projects", "workspaces", "users")}
    registry = {step: _ids(units, step) for step in ("model versions", "models", "templates", "webhooks")}
    target.write(lambda conn: import_removal.remove_registry(conn, registry))  # versions hold their checkpoints
    for start in range(0, len(ids["experiments"]), _AT_ONCE):
        part = ids["experiments"][start : start + _AT_ONCE]
        target.write(lambda conn, part=part: import_removal.remove_experiments(conn, part))  # type: ignore[misc]
    trials = _ids(units, "trials")
    target.write(lambda conn: import_removal.remove_trials(conn, trials))
    target.write(lambda conn: _remove_rest(conn, running.id, units, ids))
    return running


def _remove_rest(conn: Connection, import_id: int, units: list[ImportUnit], ids: dict[str, list[int]]) -> None:
    before = next((unit.notes for unit in units if unit.step == BEFORE), {})
    own = {noun: {row["id"] for row in before.get(noun, [])} for noun in ("users", "workspaces", "projects")}
    import_removal.remove_settings(conn, ids["users"])
    import_removal.remove_places(
        conn,
        [id_ for id_ in ids["projects"] if id_ not in own["projects"]],
        [id_ for id_ in ids["workspaces"] if id_ not in own["workspaces"]],
    )
    if before:
        import_removal.restore(conn, before)
    import_removal.remove_users(conn, [id_ for id_ in ids["users"] if id_ not in own["users"]])
    import_unit.remove(conn, import_id)


def _ids(units: list[ImportUnit], step: str) -> list[int]:
    return [id_ for unit in units if unit.step == step for id_ in unit.ids or ()]
