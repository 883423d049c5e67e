"""Templates: what cannot be stored is left out."""

from determined.config.templates import check_storable
from determined.errors import InvalidConfig
from determined.master.db.rows.workspaces import TemplateValues
from determined.master.importing.sources.upstream.mapping.mapped import Mapped, MappingContext
from determined.master.importing.sources.upstream.reading.templates import TemplateRow


def problem_of(row: TemplateRow) -> str | None:
    """Return why a template cannot be stored here."""
    if not isinstance(row.config, dict):
        return "its config is no object"
    try:
        check_storable(row.config)
    except InvalidConfig as e:
        return e.message
    return None


def map_template(row: TemplateRow, id_: int, context: MappingContext) -> Mapped:
    """Map a template that has no problem. `id_`: ours, upstream's have none."""
    assert isinstance(row.config, dict)
    values: TemplateValues = {
        "id": id_,
        "name": row.name,
        "workspace_id": row.workspace_id,
        "config": row.config,
        "user_id": row.owner_id,
        "updated_at": context.now,
    }
    return Mapped([("templates", values)])
