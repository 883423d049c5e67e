"""Contents of every cluster from its first start on: identity, secret, built-in users, one workspace and project."""

import secrets
import uuid
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from determined.errors import FailedPrecondition
from determined.master.auth.password import stored_hash
from determined.master.db.queries import cluster, import_unit, project, user, workspace

ADMIN = "admin"
ORDINARY = "determined"
UNCATEGORIZED = "Uncategorized"


@dataclass(frozen=True, slots=True)
class FirstPassword:
    """The password of the built-in users at first boot. `generated`: nobody chose it, so somebody must be told."""

    stored: str | None
    generated: str | None = None


def first_password(configured: str | None) -> FirstPassword:
    """`configured` None: nobody chose one, so a random one. A blank one only where the config says `""`. Slow."""
    if configured is not None:
        return FirstPassword(stored_hash(configured, is_hashed=False))
    generated = secrets.token_urlsafe(12)
    return FirstPassword(stored_hash(generated, is_hashed=False), generated)


def is_empty(conn: Connection) -> bool:
    return cluster.get(conn, cluster.CLUSTER_ID) is None


def populate(conn: Connection, now: datetime, password: FirstPassword) -> None:
    """Fill an empty database; does nothing to one that was filled before."""
    if not is_empty(conn):
        return
    cluster.put(conn, cluster.CLUSTER_ID, str(uuid.uuid4()))
    cluster.put(conn, cluster.TOKEN_SECRET, secrets.token_hex(32))
    admin_id = user.create(conn, now, {"username": ADMIN, "admin": True, "password_hash": password.stored})
    user.create(conn, now, {"username": ORDINARY, "admin": False, "password_hash": password.stored})
    workspace_id = workspace.create(conn, now, {"name": UNCATEGORIZED, "user_id": admin_id, "immutable": True})
    project.create(
        conn,
        now,
        {"name": UNCATEGORIZED, "user_id": admin_id, "workspace_id": workspace_id, "immutable": True, "notes": []},
    )


def require_whole(conn: Connection) -> None:
    """Refuse to serve a database that an import has not finished: half of it must not be seen.

    Raises:
        FailedPrecondition: saying how to finish or to remove it.
    """
    running = import_unit.running(conn)
    if running is not None:
        raise FailedPrecondition(
            f"an import from {running.source} is unfinished; run `det master import {running.kind} --source ...` again "
            f"to finish it, or remove it with `det master import {running.kind} --abort`"
        )


def identity(conn: Connection) -> tuple[str, bytes]:
    """Return the cluster id and the token secret."""
    return str(cluster.get(conn, cluster.CLUSTER_ID)), bytes.fromhex(str(cluster.get(conn, cluster.TOKEN_SECRET)))
