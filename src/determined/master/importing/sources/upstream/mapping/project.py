"""Projects."""

from determined.master.db.rows.workspaces import ProjectValues
from determined.master.importing.sources.upstream.mapping.mapped import Mapped
from determined.master.importing.sources.upstream.mapping.workspace import deletion_notes
from determined.master.importing.sources.upstream.reading.workspaces import ProjectRow


def map_project(row: ProjectRow) -> Mapped:
    values: ProjectValues = {
        "id": row.id,
        "workspace_id": row.workspace_id,
        "user_id": row.user_id,
        "name": row.name,
        "key": row.key,
        "description": row.description or "",
        "notes": _notes(row.notes),
        "archived": row.archived,
        "immutable": row.immutable,
        "created_at": row.created_at,
    }
    return Mapped([("projects", values)], deletion_notes(row.state, f"project {row.id} ({row.name})"))


def _notes(raw: object) -> list[dict[str, str]]:
    pages = raw if isinstance(raw, list) else []
    return [
        {"name": str(page.get("name", "")), "contents": str(page.get("contents", ""))}
        for page in pages
        if isinstance(page, dict)
    ]
