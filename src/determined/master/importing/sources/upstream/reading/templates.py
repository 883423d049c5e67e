"""Upstream's templates."""

import msgspec

from determined.master.importing.sources.upstream.source import Source


class TemplateRow(msgspec.Struct, frozen=True):
    name: str
    config: object  # JSON
    workspace_id: int
    owner_id: int  # of the workspace: upstream does not keep who made a template


_TEMPLATES = """
SELECT t.name, t.config, w.id, w.user_id
FROM templates t JOIN workspaces w ON w.id = COALESCE(t.workspace_id, 1) ORDER BY t.name
"""


def read(source: Source) -> list[TemplateRow]:
    return source.rows(_TEMPLATES, TemplateRow)
