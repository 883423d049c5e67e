"""`python3 -m determined.launch.horovod [[HOROVODRUN OPTIONS...] --] (--trial T | SCRIPT...)`: runs horovodrun.

The first node runs it; the others run sshd, by which it starts their ranks, and end when it has.
"""

import ipaddress
import os
import re
import shutil
import sys
import sysconfig
from pathlib import Path

from determined._info import ClusterInfo, trial_of
from determined.config import ExperimentConfig
from determined.config.sections import Optimizations
from determined.constants import ENV_CHIEF_IP, ENV_INTER_NODE_NETWORK_INTERFACE, ENV_RESOURCES_ID, ENV_SERVED_RUN_DIR
from determined.errors import FailedPrecondition
from determined.launch import _rank_environment, environment
from determined.launch._arguments import parse, usage
from determined.launch._program import launch, launch_foreign, program
from determined.launch._topology import Gang, cluster_info, gang_of
from determined.launch._worker import Work
from determined.wire.allocation import MARK_DAEMON

_NAME = "horovod"
_AUTO = "--autohorovod"
_PROGRAM = "horovodrun"
# It goes on without a rank that fails when it is started with one of these.
_ELASTIC = ("--min-np", "--min-num-proc", "--host-discovery-script")
# What horovodrun puts before the lines of a rank, which carry a mark of ours.
_PREFIX = re.compile(r"[^\[]*\[\d+\]<std(out|err)>:(?=\[rank=)")
_ALARM = re.compile(r"Process \d+ exit with status code")
_PEER_SECONDS = 20.0
_EXTRA_OPTIONS = "__det_dtrain_args"  # of the config's `data` section


def main(words: list[str]) -> int:
    return program(usage(_NAME, overrides="HOROVODRUN OPTIONS"), lambda: _run(words))


def horovodrun(
    gang: Gang, info: ClusterInfo, ssh_port: int, overrides: list[str], script: list[str], interface: str | None
) -> list[str]:
    hosts = ",".join(f"{name}:{slots}" for name, slots in zip(host_names(gang), gang.sizes, strict=True))
    # What it found out about these hosts for an earlier task, with other keys, does not hold for this one.
    words = [_PROGRAM, "-np", str(gang.size), "-p", str(ssh_port), "-H", hosts, "--disable-cache"]
    words += ["--start-timeout", "1200", "--gloo-timeout-seconds", "240"]
    if gang.nodes > 1 and interface:
        words += ["--network-interface", interface]
    trial = None if trial_of(info) is None else info.trial
    config = ExperimentConfig.load({} if trial is None else trial._config)
    words += _fusion(config.optimizations)
    words += ["--cache-capacity", "1024", "--no-hierarchical-allreduce", "--no-hierarchical-allgather"]
    if trial is not None and trial._debug:
        words.append("--verbose")
    words += _extra_options(info) + overrides
    # No `--` between: it would run that as the program.
    return [*words, environment.python(), "-m", "determined.launch._horovod_rank", *script]


def host_names(gang: Gang) -> list[str]:
    """Return how horovodrun knows the nodes. Several on one machine share its loopback: each is given an address of its
    own.

    By the shared one it would take them for the first node, and all but one sshd would find the port in use.
    """
    others = [
        f"127.0.0.{node + 1}" if _is_loopback(address) else address for node, address in enumerate(gang.addresses)
    ]
    return ["localhost", *others[1:]]


def _run(words: list[str]) -> int:
    auto = words[:1] == [_AUTO]
    arguments = parse(words[1:] if auto else words, overridable=True)
    info = cluster_info(_NAME)
    gang = gang_of(info)
    variables = dict(environment.variables()) | {ENV_CHIEF_IP: gang.chief}
    if auto and gang.size == 1:
        return launch([Work(arguments.script, variables, None)])
    variables |= {"USE_HOROVOD": "1"}
    variables.pop("SLURM_JOBID", None)  # horovodrun would start its ranks by Slurm's means
    interface = variables.get(ENV_INTER_NODE_NETWORK_INTERFACE) or _interface_of(gang.addresses[gang.node])
    _rank_environment.keep(_run_dir(), variables, interface if gang.nodes > 1 else None)
    hasty = not _is_elastic(info, arguments.overrides)
    if gang.node > 0:
        return _serve(info, gang, variables, hasty)
    program = _find_program()
    seen = _rank_environment.shown(variables)
    overrides = (_reach_peers(info, gang, seen) if gang.nodes > 1 else []) + arguments.overrides
    command = horovodrun(gang, info, environment.ssh_port(), overrides, arguments.script, interface)
    return launch_foreign([program, *command[1:]], seen, noise=_PREFIX, alarm=_ALARM, hasty=hasty)


def _serve(info: ClusterInfo, gang: Gang, variables: dict[str, str], hasty: bool) -> int:
    """A node that others log in to: it does not keep the task alive."""
    from determined.launch import _ssh

    resource = variables.get(ENV_RESOURCES_ID)
    if not resource:
        raise FailedPrecondition(f"{ENV_RESOURCES_ID} is not set; several nodes need it to tell the master who serves")
    command = _ssh.find_sshd()
    with _ssh.session_of(info) as session:
        session.call(MARK_DAEMON, allocation_id=info.allocation_id, resource_id=resource)
        keys = _ssh.exchange_keys(session, info, _run_dir() / "ssh")
    inside = _rank_environment.shown(variables) | {ENV_SERVED_RUN_DIR: str(_run_dir())}
    config = _ssh.write_sshd_config(keys, host_names(gang)[gang.node], environment.ssh_port(), inside)
    ranks = _rank_environment.followers(_run_dir())
    return launch_foreign([command, "-D", "-e", "-f", str(config)], variables, followers=ranks, hasty=hasty)


def _reach_peers(info: ClusterInfo, gang: Gang, seen: dict[str, str]) -> list[str]:
    """Options by which horovodrun gets into the other nodes, once all of them answer. In `seen`, PATH gets our ssh."""
    from determined.launch import _ssh

    port = environment.ssh_port()
    names = host_names(gang)
    with _ssh.session_of(info) as session:
        keys = _ssh.exchange_keys(session, info, _run_dir() / "ssh")
    _ssh.wait_for_peers(names[1:], port, _PEER_SECONDS)
    programs = _ssh.write_ssh(keys, names, port)
    seen["PATH"] = os.pathsep.join([str(programs), seen.get("PATH", os.defpath)])
    return ["--ssh-identity-file", str(keys.identity)]


def _is_elastic(info: ClusterInfo, overrides: list[str]) -> bool:
    return any(word.split("=")[0] in _ELASTIC for word in [*_extra_options(info), *overrides])


def _extra_options(info: ClusterInfo) -> list[str]:
    return [str(word) for word in info.user_data.get(_EXTRA_OPTIONS, [])]


def _find_program() -> str:
    """The one that belongs to this interpreter, which need not be on PATH."""
    beside = shutil.which(_PROGRAM, path=sysconfig.get_path("scripts"))
    program = beside or shutil.which(_PROGRAM)
    if program is None:
        raise FailedPrecondition(f"{_PROGRAM} is not installed here; run: pip install 'redetermined[horovod]'")
    return program


def _interface_of(address: str) -> str | None:
    """The one with this address. Left to itself, horovodrun looks for one that has the same name on all nodes."""
    import psutil

    interfaces = psutil.net_if_addrs().items()
    return next((name for name, entries in interfaces if address in {entry.address for entry in entries}), None)


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def _run_dir() -> Path:
    directory = environment.run_dir()
    if directory is None:
        raise FailedPrecondition("DET_RUN_DIR is no directory; Horovod's ranks find their variables there")
    return directory


def _fusion(optimizations: Optimizations) -> list[str]:
    if optimizations.auto_tune_tensor_fusion:
        return ["--autotune", "--autotune-log-file", os.devnull]
    threshold, cycle = optimizations.tensor_fusion_threshold, optimizations.tensor_fusion_cycle_time
    return ["--fusion-threshold-mb", str(threshold), "--cycle-time-ms", str(cycle)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
