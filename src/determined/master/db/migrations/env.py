"""Environment of Alembic: our connection, our metadata, and how columns are written down in a revision."""

from typing import Any, Literal

from alembic import context
from sqlalchemy.sql.elements import False_, True_

from determined.master.db.schema import Time, metadata


def render(kind: str, item: Any, _autogen: Any) -> str | Literal[False]:
    """Revisions must not import determined.master.db.schema (it moves on, they never change) nor speak the dialect they were made on."""
    if kind == "type" and isinstance(item, Time):
        return "sa.BigInteger()"
    default = getattr(item, "arg", None)
    if kind == "server_default" and isinstance(default, True_ | False_):
        return "sa.true()" if isinstance(default, True_) else "sa.false()"
    return False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    render_item=render,
    transactional_ddl=True,
)
context.run_migrations()
