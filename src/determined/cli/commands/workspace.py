"""det workspace: create, list, describe, edit, archive, delete."""

import argparse
import json
from pathlib import Path
from typing import Any

from determined.api import workspace
from determined.cli import deletion, render
from determined.cli.connection import connect
from determined.cli.grammar import Command, UsageError, arg, command, group, one_of
from determined.cli.sort_flags import ORDER, ordered
from determined.wire.codec import convert
from determined.wire.workspace import ListProjects, ListWorkspaces, PatchWorkspace, PostWorkspaceRequest, Workspace

_NAME = arg("workspace_name", help="workspace")


def list_workspaces(args: argparse.Namespace) -> None:
    workspaces = list(workspace.iterate(connect(args), ordered(args, ListWorkspaces())))
    render.rows(_HEADERS, [_row(w) for w in workspaces], args=args, data=workspaces)


def list_projects(args: argparse.Namespace) -> None:
    session = connect(args)
    owner = workspace.by_name(session, args.workspace_name)
    projects = list(workspace.projects(session, owner.id, ordered(args, ListProjects())))
    headers = ["ID", "Name", "Description", "# Experiments", "# Active Experiments", "Archived"]
    rows = [[p.id, p.name, p.description, p.num_experiments, p.num_active_experiments, p.archived] for p in projects]
    render.rows(headers, rows, args=args, data=projects)


def list_pools(args: argparse.Namespace) -> None:
    session = connect(args)
    pools = workspace.pools(session, workspace.by_name(session, args.workspace_name).id)
    render.rows(["Resource Pool"], [[name] for name in pools], args=args, data=pools)


def create(args: argparse.Namespace) -> None:
    if args.cluster_name or args.namespace or args.auto_create or args.resource_quota is not None:
        raise UsageError("namespaces and resource quotas belong to Kubernetes clusters, which this version has not")
    request = convert({"name": args.name, **_settings(args)}, PostWorkspaceRequest)
    made = workspace.create(connect(args), request)
    if args.json:
        render.structured(made)
        return
    render.table(_HEADERS, [_row(made)])


def describe(args: argparse.Namespace) -> None:
    row = workspace.by_name(connect(args), args.workspace_name)
    if args.json:
        render.structured(row)
        return
    render.table(_HEADERS, [_row(row)])


def edit(args: argparse.Namespace) -> None:
    session = connect(args)
    changes = _settings(args) | ({"name": args.name} if args.name else {})
    if not changes:
        raise UsageError("nothing to change; see: det workspace edit --help")
    workspace_id = workspace.by_name(session, args.workspace_name).id
    row = workspace.patch(session, workspace_id, convert(changes, PatchWorkspace))
    if args.json:
        render.structured(row)
        return
    render.table(_HEADERS, [_row(row)])


def delete(args: argparse.Namespace) -> int | None:
    session = connect(args)
    row = workspace.by_name(session, args.workspace_name)
    content = f"{row.num_projects} project(s) and {row.num_experiments} experiment(s), with all checkpoints"
    return deletion.delete(
        "workspace", row.name, content, lambda: workspace.delete(session, row.id), is_confirmed=args.yes
    )


def verb(name: str) -> Command:
    def run(args: argparse.Namespace) -> None:
        session = connect(args)
        workspace.act(session, workspace.by_name(session, args.workspace_name).id, name)
        render.line(f"{name.capitalize()}d workspace {args.workspace_name}")

    return command(name, f"{name} workspace", run, _NAME)


def _settings(args: argparse.Namespace) -> dict[str, Any]:
    body: dict[str, Any] = {}
    link = {
        "agentUid": args.agent_uid,
        "agentUser": args.agent_user,
        "agentGid": args.agent_gid,
        "agentGroup": args.agent_group,
    }
    if any(v is not None for v in link.values()):
        body["agentUserGroup"] = {k: v for k, v in link.items() if v is not None}
    if args.checkpoint_storage_config_file:
        from determined.config import parse_yaml

        body["checkpointStorageConfig"] = parse_yaml(Path(args.checkpoint_storage_config_file).read_text())
    elif args.checkpoint_storage_config:
        body["checkpointStorageConfig"] = args.checkpoint_storage_config
    pools = {"defaultComputePool": args.default_compute_pool, "defaultAuxPool": args.default_aux_pool}
    return body | {k: v for k, v in pools.items() if v is not None}


def _json_object(text: str) -> dict[str, Any]:
    """Return the type of an argument that is written as JSON."""
    try:
        value = json.loads(text)
    except ValueError as e:
        raise argparse.ArgumentTypeError(f"{text!r} is not JSON ({e})") from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError(f'{text!r} is not a JSON object, such as {{"type": "shared_fs"}}')
    return value


def _row(w: Workspace) -> list[Any]:
    link = w.agent_user_group
    agent = f"{link.agent_user}:{link.agent_group}" if link and link.agent_user else None
    return [w.id, w.name, w.num_projects, agent, w.default_compute_pool, w.default_aux_pool, w.archived]


_HEADERS = ["ID", "Name", "# Projects", "Agent User", "Default Compute Pool", "Default Aux Pool", "Archived"]
_SETTINGS = (
    arg("--agent-uid", type=int),
    arg("--agent-user"),
    arg("--agent-gid", type=int),
    arg("--agent-group"),
    one_of(
        arg("--checkpoint-storage-config", type=_json_object, metavar="JSON"),
        arg("--checkpoint-storage-config-file", metavar="FILE"),
    ),
    arg("--default-compute-pool"),
    arg("--default-aux-pool"),
    render.JSON,
)

_KUBERNETES = (
    arg("--cluster-name", help=argparse.SUPPRESS),
    arg("-n", "--namespace", help=argparse.SUPPRESS),
    arg("--auto-create-namespace", dest="auto_create", action="store_true", help=argparse.SUPPRESS),
    arg("--auto-create-namespace-all-clusters", dest="auto_create", action="store_true", help=argparse.SUPPRESS),
    arg("--resource-quota", type=int, help=argparse.SUPPRESS),
)

TREE = group(
    "workspace w",
    "manage workspaces",
    command(
        "list ls",
        "list workspaces",
        list_workspaces,
        *ORDER,
        render.FORMATS,
        default=True,
    ),
    command("list-projects", "list projects", list_projects, _NAME, *ORDER, render.FORMATS),
    command("list-pools", "list pools of workspace", list_pools, _NAME, render.FORMATS),
    command("create", "create workspace", create, arg("name"), *_SETTINGS, *_KUBERNETES),
    command("describe", "describe workspace", describe, _NAME, render.JSON),
    command("edit", "edit workspace", edit, _NAME, arg("--name", help="the new name"), *_SETTINGS),
    command("delete", "delete workspace", delete, _NAME, arg("--yes", action="store_true", help="do not ask")),
    verb("archive"),
    verb("unarchive"),
)
