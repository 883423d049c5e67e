"""Projects."""

from collections.abc import Sequence

from determined.master.db.rows.workspaces import ProjectValues
from determined.master.importing.notes import Note
from determined.master.importing.sources.upstream import rules
from determined.master.importing.sources.upstream.mapping.mapped import Mapped
from determined.master.importing.sources.upstream.mapping.workspace import deletion_notes
from determined.master.importing.sources.upstream.reading.workspaces import ProjectRow
from determined.master.services.naming import new_key


def keys_of(rows: Sequence[ProjectRow], stored: dict[str, int]) -> dict[int, str]:
    """Return the key of each project: its own, or one made from its name as this master makes them.

    `stored`: projects of this cluster by key; the keys of `rows` are added.
    """
    ids = {row.id for row in rows}
    taken = {key for key, id_ in stored.items() if id_ not in ids} | {row.key for row in rows if row.key}
    keys: dict[int, str] = {}
    for row in rows:
        keys[row.id] = row.key or new_key(row.name, taken)
        taken.add(keys[row.id])
    stored.update({key: id_ for id_, key in keys.items()})
    return keys


def map_project(row: ProjectRow, key: str) -> Mapped:
    values: ProjectValues = {
        "id": row.id,
        "workspace_id": row.workspace_id,
        "user_id": row.user_id,
        "name": row.name,
        "key": key,
        "description": row.description or "",
        "notes": _notes(row.notes),
        "archived": row.archived,
        "immutable": row.immutable,
        "created_at": row.created_at,
    }
    what = f"project {row.id} ({row.name})"
    made_up = [] if row.key else [Note(rules.PROJECT_KEY, f"{what}: {key}")]
    return Mapped([("projects", values)], [*deletion_notes(row.state, what), *made_up])


def _notes(raw: object) -> list[dict[str, str]]:
    pages = raw if isinstance(raw, list) else []
    return [
        {"name": str(page.get("name", "")), "contents": str(page.get("contents", ""))}
        for page in pages
        if isinstance(page, dict)
    ]
