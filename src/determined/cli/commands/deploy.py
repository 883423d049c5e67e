"""det deploy local: a cluster of processes on this machine, with the flags people know from the container version."""

import argparse
import socket
import sys
import time
from pathlib import Path
from typing import Any

from determined.api import cluster
from determined.api.session import Session
from determined.cli import passwords, render
from determined.cli.commands import deploy_ray
from determined.cli.connection import connect, own_session
from determined.cli.grammar import Arg, Command, arg, command, group, one_of
from determined.cli.slots_option import OF_CLUSTER, say_artificial, slots_option
from determined.errors import InvalidArgument, NotFound

_HERE = {"localhost", "127.0.0.1", "::1"}
_NAME = arg("--cluster-name", default="determined", help="name of the cluster")
_IGNORED = (
    arg("--det-version", help=argparse.SUPPRESS),
    arg("--db-password", default="postgres", help=argparse.SUPPRESS),
    arg("--no-autorestart", action="store_true", help=argparse.SUPPRESS),
    arg("--enterprise-edition", action="store_true", help=argparse.SUPPRESS),
    arg("--image-repo-prefix", help=argparse.SUPPRESS),
)


def cluster_up(args: argparse.Namespace) -> None:
    from determined.deploy import local, reachability
    from determined.deploy.options import stored

    options = local.ClusterOptions(
        port=args.master_port,
        host=args.host,
        master_config_path=Path(args.master_config_path) if args.master_config_path else None,
        storage_host_path=args.storage_host_path,
        initial_user_password=passwords.given(args.initial_user_password, "--initial-user-password"),
        agents=args.agents,
        gpu=args.gpu,
        auto_work_dir=args.auto_work_dir,
        delete_db=args.delete_db,
        slots=args.slots,
    )
    before = local.process(args.cluster_name).find()
    state = local.up(args.cluster_name, options)
    if before is not None:
        render.line(_restarted(args.cluster_name, before.url, state.url), file=sys.stderr)
    render.line(f"Determined is running at {state.url}")
    say_artificial(args.slots, OF_CLUSTER)
    if not args.initial_user_password:
        path = local.directory(args.cluster_name) / "state.json"
        render.line(f"Users 'determined' and 'admin' have the password kept in {path}", file=sys.stderr)
    render.line("Your det commands on this machine find it.", file=sys.stderr)
    for sentence in reachability.describe(state.url, stored(local.directory(args.cluster_name)).host):
        render.line(sentence, file=sys.stderr)


def _restarted(name: str, before: str, now: str) -> str:
    moved = "" if before == now else f"; it was at {before}, where nothing answers any more"
    return f"Restarted cluster {name} with the options of this command{moved}. Running training goes on."


def cluster_down(args: argparse.Namespace) -> None:
    from determined.deploy import local

    was_running = local.down(args.cluster_name, delete_db=args.delete_db)
    stopped = f"Stopped cluster {args.cluster_name}"
    if not args.delete_db:
        stopped += "; running training goes on and is found again at the next start"
    render.line(stopped if was_running else f"Cluster {args.cluster_name} is not running")


def agent_up(args: argparse.Namespace) -> None:
    """Add a node of this machine to a running cluster."""
    if args.master_host not in {*_HERE, socket.gethostname()}:
        raise InvalidArgument(
            f"cannot add an agent to a master on '{args.master_host}': agents run beside their master; "
            "for several machines use a resource pool on Ray or Slurm"
        )
    own = _agent_config(args.agent_config_path)
    name = args.agent_name or own.get("agent_id") or f"det-agent-{socket.gethostname()}"
    pool = args.agent_resource_pool or own.get("resource_pool") or "default"
    slots = args.slots if args.slots is not None else int(own.get("artificial_slots") or 1)
    cluster.add_agent(_session(args), name, pool, slots)
    render.line(f"Added agent {name} with {slots} slot(s) to pool {pool}")


def agent_down(args: argparse.Namespace) -> None:
    session = _session(args)
    if not args.all:
        cluster.remove_agent(session, args.agent_name)
        render.line(f"Removed agent {args.agent_name}")
        return
    for agent in cluster.agents(session):
        try:
            cluster.remove_agent(session, agent.id)
            render.line(f"Removed agent {agent.id}")
        except InvalidArgument:  # one the master itself offers: it goes with cluster-down
            render.line(f"Kept agent {agent.id}, which goes with: det deploy local cluster-down")


def logs(args: argparse.Namespace) -> None:
    from determined.deploy import local

    path = local.process(args.cluster_name).log_file
    if not path.exists():
        raise NotFound(f"cluster {args.cluster_name} has no log at {path}; start it: det deploy local cluster-up")
    with path.open(errors="replace") as file:
        while True:
            text = file.readline()
            if text:
                render.raw(text)
            elif args.no_follow:
                return
            else:
                time.sleep(0.2)


def cloud(args: argparse.Namespace) -> int:
    render.fail("Clouds are not provisioned by this version; run `det deploy local` there, or a pool on Ray or Slurm")
    return 1


def _agent_config(path: str | None) -> dict[str, Any]:
    if path is None:
        return {}
    from determined.config import parse_yaml

    if not Path(path).is_file():
        raise InvalidArgument(f"no agent config at '{path}'; check --agent-config-path")
    return parse_yaml(Path(path).read_text())


def _session(args: argparse.Namespace) -> Session:
    """Return the named cluster's admin; a master named with -m otherwise."""
    from determined.deploy import local

    if args.master:
        return connect(args)
    state = local.process(args.cluster_name).find()
    if state is None:
        raise NotFound(f"cluster {args.cluster_name} is not running; start it with: det deploy local cluster-up")
    return own_session(state, args.user_override or "admin")


def _master(*more: Arg) -> tuple[Any, ...]:
    return (
        one_of(
            arg("--master-config-path", metavar="FILE", help="a master.yaml"),
            arg("--storage-host-path", metavar="DIR", help="where checkpoints go"),
        ),
        arg("--initial-user-password", help="of the users determined and admin; - asks for it"),
        arg("--host", help="address to listen on; 0.0.0.0 for other machines (default: this machine only)"),
        arg("--master-port", type=int, help="port to listen on (default: 8080)"),
        _NAME,
        arg("--delete-db", action="store_true", help="forget everything an earlier cluster of this name kept"),
        arg("--auto-work-dir", metavar="DIR", help="working directory of tasks"),
        slots_option("the master.yaml's, else auto"),
        *_IGNORED,
        *more,
    )


_GPU = (
    arg("--gpu", dest="gpu", action="store_true", default=True, help="offer GPUs (default)"),
    arg("--no-gpu", dest="gpu", action="store_false", help="offer CPU slots"),
)
_IGNORED_GPU = (  # nodes that are added by hand have CPU slots
    arg("--gpu", action="store_true", help=argparse.SUPPRESS),
    arg("--no-gpu", action="store_true", help=argparse.SUPPRESS),
)
_MASTER_NAME = arg("--master-name", help=argparse.SUPPRESS)
_AGENTS_HELP = "nodes to offer on this machine"

_LOCAL = group(
    "local",
    "a cluster on this machine",
    command(
        "cluster-up",
        "start cluster",
        cluster_up,
        *_master(arg("--agents", type=int, default=1, help=_AGENTS_HELP), *_GPU),
    ),
    command("cluster-down", "stop cluster", cluster_down, _NAME, arg("--delete-db", action="store_true")),
    command(
        "master-up",
        "start master",
        cluster_up,
        *_master(_MASTER_NAME, arg("--agents", type=int, default=0, help=_AGENTS_HELP), *_GPU),
    ),
    command("master-down", "stop master", cluster_down, _NAME, _MASTER_NAME, arg("--delete-db", action="store_true")),
    command(
        "agent-up",
        "start agent",
        agent_up,
        arg("master_host", help="localhost"),
        arg("--master-port", type=int, help=argparse.SUPPRESS),
        arg("--agent-config-path", metavar="FILE", help="an agent.yaml"),
        arg("--agent-name", help="its ID (default: det-agent-<hostname>)"),
        arg("--agent-resource-pool", help="its pool (default: default)"),
        arg("--slots", type=int, help="number of its CPU slots (default: 1); the GPUs are the cluster's own node's"),
        _NAME,
        *_IGNORED_GPU,
        *_IGNORED,
    ),
    command(
        "agent-down",
        "stop agent",
        agent_down,
        one_of(arg("--agent-name"), arg("--all", action="store_true", help="every one added"), required=True),
        _NAME,
    ),
    command("logs", "show logs", logs, _NAME, arg("--no-follow", action="store_true")),
)


def _cloud(name: str) -> Any:
    verbs = ("up", "down", "list", "dump-master-config-template")
    commands = (Command((v,), f"{v} {name}", cloud, lenient=True) for v in verbs)
    return group(name, f"a cluster on {name} (not provided)", *commands)


TREE = group(
    "deploy d",
    "start and stop a cluster",
    _LOCAL,
    deploy_ray.TREE,
    *(_cloud(name) for name in ("aws", "gcp", "gke-experimental")),
    ignored={"--no-preflight-checks": False, "--no-wait-for-master": False, "--image-repo-prefix": True},
)
