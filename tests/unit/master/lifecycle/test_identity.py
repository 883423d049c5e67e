"""Whom a task may run as, and where."""

import pytest

from determined.master.config import MasterConfig, load_master_config
from determined.master.lifecycle import identity

LINKED = {
    "username": "ann", "agent_uid": 1001, "agent_user": "ann", "agent_gid": 1001, "agent_group": "ann",
    "workspace_uid": None, "workspace_user": None, "workspace_gid": None, "workspace_group": None,
}  # fmt: skip


@pytest.fixture
def isolated(monkeypatch: pytest.MonkeyPatch) -> MasterConfig:
    """A master that is root, with a Ray cluster beside its own machine."""
    monkeypatch.setattr(identity, "can_switch_users", lambda: True)
    ray = {"resource_manager": {"type": "ray", "name": "big", "dashboard_url": "http://ray:1"}}
    additional = [{**ray, "resource_pools": [{"pool_name": "gpu"}]}]
    security = {"require_user_isolation": True}
    return load_master_config({"security": security, "additional_resource_managers": additional}, {}, {})


def test_linked_user_is_isolated_on_the_masters_own_machine(isolated: MasterConfig) -> None:
    assert identity.isolation_problem({**LINKED, "engine": "local"}, isolated) is None  # type: ignore[arg-type]
    assert identity.isolation_problem(LINKED, isolated) is None  # type: ignore[arg-type]


def test_isolation_refuses_a_cluster_whose_tasks_all_run_as_one_user(isolated: MasterConfig) -> None:
    problem = identity.isolation_problem({**LINKED, "engine": "big"}, isolated)  # type: ignore[arg-type]
    assert problem is not None
    assert "'big' (ray)" in problem
