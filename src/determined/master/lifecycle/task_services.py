"""Services of a task: what the proxy may reach on its node of rank 0."""

from collections.abc import Sequence

from sqlalchemy import Connection

from determined.config import ExperimentConfig
from determined.config.environment import Environment, ProxyPort
from determined.config.task_kinds import KINDS, TaskKind
from determined.master.db.queries import submitted_task as submitted_tasks
from determined.master.db.queries import task as tasks
from determined.master.db.queries import task_service as targets
from determined.master.lifecycle.task_config import config_of
from determined.wire.report import Service
from determined.wire.trial_shell import SERVICE as SHELL_SERVICE


def of_task(conn: Connection, task_id: str) -> list[Service]:
    """Return the services of a task. Raises NotFound."""
    task = tasks.get(conn, task_id)
    if task.trial_id is not None:
        environment = ExperimentConfig.load(tasks.trial_details(conn, task.trial_id).config).environment
        return [*of_environment(environment), Service(id=SHELL_SERVICE, tcp=True)]
    submitted, kind = submitted_tasks.find(conn, task_id), KINDS[task.type]
    if submitted is None:
        return []
    return of_kind(kind) + of_environment(config_of(kind, submitted.config).environment)


def of_kind(kind: TaskKind) -> list[Service]:
    """Return the default service of a kind that has a program of its own."""
    return [Service(tcp=kind.is_raw)] if kind.program else []


def of_live_tasks(conn: Connection) -> dict[str, list[Service]]:
    """Return the ports that the users of live tasks have declared, by task id."""
    declared = targets.declared_ports(conn)
    return {task_id: _of_ports([ProxyPort.load(one) for one in ports]) for task_id, ports in declared.items()}


def of_environment(environment: Environment) -> list[Service]:
    """Return the ports that the user has declared."""
    return _of_ports(environment.proxy_ports)


def _of_ports(ports: Sequence[ProxyPort]) -> list[Service]:
    return [
        Service(
            id="" if one.default_service_id else str(one.proxy_port),
            port=one.proxy_port,
            tcp=one.proxy_tcp,
            unauthenticated=one.unauthenticated,
        )
        for one in ports
    ]
