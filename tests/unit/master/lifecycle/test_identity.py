"""Whom a task may run as, and where."""

from typing import Any

import pytest
from msgspec.structs import replace

from determined.master.config import MasterConfig, load_master_config
from determined.master.db.queries.runner import Identity
from determined.master.lifecycle import identity

LINKED = Identity(
    username="ann", agent_uid=1001, agent_user="ann", agent_gid=1001, agent_group="ann", workspace_uid=None,
    workspace_user=None, workspace_gid=None, workspace_group=None, workspace_user_of=None,
)  # fmt: skip


@pytest.fixture
def isolated(monkeypatch: pytest.MonkeyPatch) -> MasterConfig:
    """A master that is root, with a Ray cluster beside its own machine."""
    monkeypatch.setattr(identity, "can_switch_users", lambda: True)
    ray = {"resource_manager": {"type": "ray", "name": "big", "dashboard_url": "http://ray:1"}}
    additional = [{**ray, "resource_pools": [{"pool_name": "gpu"}]}]
    security = {"require_user_isolation": True}
    return load_master_config({"security": security, "additional_resource_managers": additional}, {}, {})


def test_linked_user_is_isolated_on_the_masters_own_machine(isolated: MasterConfig) -> None:
    assert identity.isolation_problem(LINKED, isolated, "local") is None
    assert identity.isolation_problem(LINKED, isolated) is None


def test_isolation_refuses_a_cluster_whose_tasks_all_run_as_one_user(isolated: MasterConfig) -> None:
    problem = identity.isolation_problem(LINKED, isolated, "big")
    assert problem is not None
    assert "'big' (ray)" in problem


@pytest.mark.parametrize(
    "change",
    [
        {"agent_uid": 0},
        {"agent_gid": 0},
        {"agent_group": "root"},
        {"agent_user": "root"},
        {"workspace_uid": 0},
        {"workspace_gid": 0},
        {"workspace_group": "root"},
        {"agent_uid": None},
        {"agent_uid": None, "workspace_user": "root"},
    ],
)
def test_isolation_counts_root_by_number_by_name_and_by_group(isolated: MasterConfig, change: dict[str, Any]) -> None:
    problem = identity.isolation_problem(replace(LINKED, **change), isolated)
    assert problem is not None and "root" in problem


def test_isolation_refuses_a_workspace_that_lends_the_os_user_of_another(isolated: MasterConfig) -> None:
    lent = replace(LINKED, workspace_uid=2001, workspace_user="bob", workspace_user_of="bob")
    problem = identity.isolation_problem(lent, isolated)
    assert problem is not None and "OS user of 'bob'" in problem
    shared = replace(lent, agent_uid=2001)
    assert identity.isolation_problem(shared, isolated) is None, "an administrator linked both"
    service = replace(LINKED, workspace_uid=3000, workspace_user="lab")
    assert identity.isolation_problem(service, isolated) is None
