"""det master: information, configuration, logs; and the embedded master: start, stop, status, backup, import."""

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from determined.api import cluster
from determined.api.own_master import MasterState
from determined.cli import own_masters, render
from determined.cli.commands import master_import
from determined.cli.connection import connect
from determined.cli.grammar import FILES, UsageError, arg, command, count, group, one_of
from determined.cli.slots_option import OF_EMBEDDED, say_artificial, slots_option
from determined.wire import master as wire
from determined.wire.log import LogLevel, MasterLogQuery

if TYPE_CHECKING:
    from determined.deploy.process import MasterProcess

_FORMAT = one_of(render.JSON, render.YAML)
_LEVELS = ["TRACE", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]
_RESTORE = """\
The archive holds the database and the settings, not checkpoint files; it is written while the master goes on
working. To go back to it:

  det master stop                                     det deploy local cluster-down
  det master restore ARCHIVE                          det master restore ARCHIVE --cluster-name determined
  det master start                                    det deploy local cluster-up (with its options)
"""
_CLUSTER_NAME = arg(
    "--cluster-name", metavar="NAME", help="a cluster of det deploy local (default: the embedded master)"
)


def info(args: argparse.Namespace) -> None:
    session = connect(args)
    args.yaml = not args.json
    render.line(f"Master at {session.master_url}", file=sys.stderr)
    render.structured(cluster.master(session), args=args)


def config(args: argparse.Namespace) -> None:
    args.yaml = not args.json
    render.structured(cluster.master_config(connect(args)), args=args)


def logs(args: argparse.Namespace) -> None:
    session = connect(args)
    limit = args.tail
    params = MasterLogQuery(follow=args.follow, limit=limit, offset=-limit if limit else None)
    for entry in cluster.master_logs(session, params):
        level = str(entry.level).removeprefix("LOG_LEVEL_").lower()
        render.line(f"{entry.timestamp} [{level}]: {entry.message}")


def set_config(args: argparse.Namespace) -> None:
    level = LogLevel(f"LOG_LEVEL_{args.log_level}") if args.log_level else None
    color = None if args.log_color is None else args.log_color == "on"
    paths = [path for path, value in (("log.level", level), ("log.color", color)) if value is not None]
    if not paths:
        raise UsageError("nothing to change; give --log.level or --log.color")
    config = wire.Config(log=wire.LogConfig(level=level, color=color))
    request = wire.PatchMasterConfigRequest(config=config, field_mask=wire.ProtobufFieldMask(paths=paths))
    connect(args).call(wire.PATCH_MASTER_CONFIG, request)
    render.line(f"Set {', '.join(paths)}")


def start(args: argparse.Namespace) -> None:
    from determined.deploy import embedded

    state, started = embedded.ensure(args.slots, args.config_file)
    render.line(f"{'Started' if started else 'Already running'}: {state.url} (data in {state.data_dir})")
    if not started and args.slots is not None:
        render.warn(f"--slots takes effect at a start: det master stop, then det master start --slots {args.slots}")
    if not started and args.config_file is not None:
        render.warn("--config-file takes effect at a start: det master stop, then det master start --config-file FILE")
    say_artificial(embedded.artificial_slots(), OF_EMBEDDED)


def stop(args: argparse.Namespace) -> None:
    from determined.deploy import embedded

    stopped = embedded.process().stop()
    render.line("Stopped; running training goes on and is found again at the next start" if stopped else "Not running")


def status(args: argparse.Namespace) -> int:
    from determined.deploy import embedded

    state = embedded.find()
    if args.json:
        fields = ("url", "pid", "version", "data_dir")
        render.structured({name: getattr(state, name) for name in fields} if state else {"url": None})
        return 0 if state else 1
    if state is None:
        render.line("Not running; start it with: det master start")
    else:
        render.line(f"Running version {state.version} at {state.url} (pid {state.pid}, data in {state.data_dir})")
    _say_others(state)
    return 1 if state is None else 0


def _say_others(embedded_state: MasterState | None) -> None:
    """Clusters of this user beside the embedded master: commands that name no master ask those first."""
    running = [m for m in own_masters.known() if m.is_running and not m.is_embedded]
    for number, master in enumerate(running):
        asked = "; commands without -m ask this one" if number == 0 else ""
        render.line(f"Also running: {master.name} at {master.state.url} (pid {master.state.pid}){asked}")
    if running and embedded_state is not None:
        render.line(f"To ask the embedded master: det -m {embedded_state.url} ...")


def upgrade(args: argparse.Namespace) -> None:
    from determined.deploy import embedded

    embedded.process().stop()
    state, _ = embedded.ensure()
    render.line(f"Running version {state.version} at {state.url}")


def back_up(args: argparse.Namespace) -> None:
    from determined.deploy import backup

    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    target = Path(args.output or f"determined-backup-{stamp}.tar.gz")
    backup.write(_own_process(args.cluster_name), target)
    render.line(f"Wrote {target} (database and settings; checkpoint files are not in it)")


def restore(args: argparse.Namespace) -> None:
    from determined.deploy import backup

    aside = backup.restore(_own_process(args.cluster_name), Path(args.archive))
    start = "det deploy local cluster-up, with its options" if args.cluster_name else "det master start"
    render.line(f"Restored {args.archive}; start it with: {start}")
    if aside is not None:
        render.line(f"The database that was there is kept in {aside}", file=sys.stderr)


def _own_process(cluster_name: str | None) -> "MasterProcess":
    from determined.deploy import embedded, local

    return local.process(cluster_name) if cluster_name else embedded.process()


def message_get(args: argparse.Namespace) -> None:
    render.structured(connect(args).call(wire.GET_CLUSTER_MESSAGE), args=args)


def message_set(args: argparse.Namespace) -> None:
    start = args.start or datetime.now(UTC).isoformat().replace("+00:00", "Z")
    request = wire.SetClusterMessageRequest(
        message=args.message, start_time=start, end_time=args.end or None, duration=args.duration or None
    )
    connect(args).call(wire.SET_CLUSTER_MESSAGE, request)
    render.line("Set the cluster message")


def message_clear(args: argparse.Namespace) -> None:
    connect(args).call(wire.DELETE_CLUSTER_MESSAGE)
    render.line("Cleared the cluster message")


_OUTPUT = arg("-o", "--output", metavar="FILE", help="the archive to write")

TREE = group(
    "master",
    "manage the master",
    command("info", "fetch master info", info, _FORMAT),
    group(
        "config",
        "the master's configuration",
        command("show", "fetch master config", config, _FORMAT, default=True),
        command(
            "set",
            "set master config",
            set_config,
            arg("--log.level", dest="log_level", choices=_LEVELS, help="how much it logs"),
            arg("--log.color", dest="log_color", choices=["on", "off"], help="whether its log is coloured"),
        ),
    ),
    command(
        "logs",
        "fetch master logs",
        logs,
        arg("-f", "--follow", action="store_true", help="go on as lines come"),
        arg("--tail", type=count, metavar="N", help="only the last N lines"),
    ),
    command(
        "start",
        "start the embedded master",
        start,
        slots_option("as at its last start; auto at the first"),
        arg("--config-file", metavar="FILE", help="settings of this and later starts; '': none (default: as before)"),
    ),
    command("stop", "stop the embedded master", stop),
    command("status", "look for the embedded master", status, render.JSON),
    command("upgrade", "restart the embedded master at this version", upgrade),
    command("backup", "back up a master of your own", back_up, _OUTPUT, _CLUSTER_NAME, epilog=_RESTORE),
    command(
        "restore",
        "restore a master of your own",
        restore,
        arg("archive", completes=FILES, help="what det master backup wrote"),
        _CLUSTER_NAME,
    ),
    master_import.TREE,
    group(
        "cluster-message",
        "the message every user sees",
        command("get", "fetch cluster message", message_get, _FORMAT, default=True),
        command(
            "set",
            "set cluster message",
            message_set,
            arg("-s", "--start", metavar="TIME", help="RFC 3339; default: now"),
            one_of(
                arg("-e", "--end", metavar="TIME", help="RFC 3339"),
                arg("-d", "--duration", help="such as 24h"),
            ),
            arg("-m", "--message", required=True),
        ),
        command(
            "clear",
            "clear cluster message",
            message_clear,
            arg("-c", "--clear", action="store_true", help=argparse.SUPPRESS),
        ),
    ),
)
