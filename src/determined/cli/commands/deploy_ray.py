"""det deploy ray: a master on this machine over a Ray cluster that already runs."""

import argparse
import sys

from determined.api import cluster
from determined.api.own_master import MasterState
from determined.cli import passwords, render
from determined.cli.connection import own_session
from determined.cli.grammar import arg, command, group

_NAME = arg("--cluster-name", default="ray", help="name of the cluster (default: ray)")


def up(args: argparse.Namespace) -> int:
    from determined.deploy import local, ray

    options = ray.RayOptions(
        dashboard_url=args.dashboard_url.rstrip("/"),
        auth_token_file=args.auth_token_file,
        python=args.ray_python,
        resource=args.resource,
        slots_per_node=args.slots_per_node,
        max_nodes=args.max_nodes,
        host=args.master_host,
        port=args.master_port,
        storage_host_path=args.storage_host_path,
        initial_user_password=passwords.given(args.initial_user_password, "--initial-user-password"),
    )
    state = ray.up(args.cluster_name, options)
    render.line(f"Determined is running at {state.url}")
    path = local.directory(args.cluster_name)
    render.line(f"Users 'determined' and 'admin' have the password kept in {path / 'state.json'}", file=sys.stderr)
    if problem := ray.reach_problem(state):
        render.line(f"WARNING: {problem}", file=sys.stderr)
    return _await_nodes(args, state)


def _await_nodes(args: argparse.Namespace, state: MasterState) -> int:
    """Say that the nodes are there, or why not. A cluster that scales from nothing has none to wait for."""
    from determined.deploy import ray

    if args.max_nodes:
        render.line("Its agents are the nodes of the Ray cluster, as Ray brings them: det agent list", file=sys.stderr)
        return 0
    session = own_session(state, args.user_override or "admin")
    render.line("Waiting for the nodes of the Ray cluster...", file=sys.stderr)
    problem = ray.await_nodes(state, lambda: len(cluster.agents(session)))
    if problem is None:
        render.line(f"{len(cluster.agents(session))} node(s) of the Ray cluster are agents now: det agent list")
        return 0
    render.fail(f"The master runs, but has no node of the Ray cluster: {problem}")
    render.line(
        f"It goes on trying. Its log: det deploy local logs --cluster-name {args.cluster_name}", file=sys.stderr
    )
    return 1


def down(args: argparse.Namespace) -> None:
    from determined.deploy import local

    was_running = local.down(args.cluster_name, delete_db=args.delete_db)
    render.line(f"Stopped the master {args.cluster_name}" if was_running else f"{args.cluster_name} is not running")


TREE = group(
    "ray",
    "a master over a Ray cluster",
    command(
        "up",
        "start a master over a running Ray cluster",
        up,
        arg("dashboard_url", metavar="URL", help="the cluster's dashboard: http://HEAD:8265"),
        arg("--auth-token-file", metavar="FILE", help="the cluster's token, where it asks for one"),
        arg("--ray-python", default="python", help="the Python of its nodes that has determined (default: python)"),
        arg("--resource", default="GPU", help="what a slot is: GPU, CPU or a resource of your own (default: GPU)"),
        arg("--slots-per-node", type=int, help="at most so many on each node; what an autoscaled node has"),
        arg("--max-nodes", type=int, default=0, help="nodes that Ray's autoscaler may bring it to"),
        arg("--master-host", help="address to listen on (default: this machine's, as the cluster sees it)"),
        arg("--master-port", type=int, default=8080, help="where the master listens (default: 8080)"),
        arg("--storage-host-path", metavar="DIR", help="where checkpoints go: the same directory on every node"),
        arg("--initial-user-password", help="of the users determined and admin; - asks for it"),
        _NAME,
    ),
    command("down", "stop the master; what runs goes on", down, _NAME, arg("--delete-db", action="store_true")),
)
