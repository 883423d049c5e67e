"""`security.require_user_isolation` at submit: what this master could not isolate is refused."""

from sqlalchemy import Connection

from determined.errors import FailedPrecondition
from determined.master.config import MasterConfig
from determined.master.db.queries import runner as runners
from determined.master.lifecycle.identity import isolation_problem


def require(conn: Connection, config: MasterConfig, owner_id: int, workspace_id: int) -> None:
    """Require that tasks of this user in this workspace are isolated from the master. Raises FailedPrecondition."""
    problem = isolation_problem(runners.identity(conn, owner_id, workspace_id), config)
    if problem is not None:
        raise FailedPrecondition(problem)
