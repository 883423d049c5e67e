"""`python3 -m determined.launch.horovod [[HOROVODRUN OPTIONS...] --] (--trial T | SCRIPT...)`: runs horovodrun.

The first node runs it; the others run sshd, by which it starts their ranks, and end when it has.
"""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from determined._info import ClusterInfo
from determined.constants import ENV_CHIEF_IP, ENV_INTER_NODE_NETWORK_INTERFACE, ENV_RESOURCES_ID
from determined.errors import FailedPrecondition
from determined.launch import environment
from determined.launch._arguments import parse, usage
from determined.launch._gang import Gang, cluster_info, gang_of
from determined.launch._program import launch, launch_foreign, program
from determined.launch._worker import Work

_NAME = "horovod"
_AUTO = "--autohorovod"
_RANKS = "HOROVOD_RANK,OMPI_COMM_WORLD_RANK,PMI_RANK"
_PEER_SECONDS = 20.0
_EXTRA_OPTIONS = "__det_dtrain_args"  # of the config's `data` section


def main(words: list[str]) -> int:
    return program(usage(_NAME, overrides="HOROVODRUN OPTIONS"), lambda: _run(words))


def horovodrun(
    gang: Gang, info: ClusterInfo, ssh_port: int, overrides: list[str], script: list[str], interface: str | None
) -> list[str]:
    hosts = ",".join(
        f"{'localhost' if node == 0 else address}:{slots}"
        for node, (address, slots) in enumerate(zip(gang.addresses, gang.sizes, strict=True))
    )
    words = ["horovodrun", "-np", str(gang.size), "-p", str(ssh_port), "-H", hosts]
    words += ["--start-timeout", "1200", "--gloo-timeout-seconds", "240"]
    if gang.nodes > 1 and interface:
        words += ["--network-interface", interface]
    config: Mapping[str, Any] = info.trial._config if info.task_type == "TRIAL" else {}
    words += _fusion(config.get("optimizations") or {})
    words += ["--cache-capacity", "1024", "--no-hierarchical-allreduce", "--no-hierarchical-allgather"]
    if info.task_type == "TRIAL" and info.trial._debug:
        words.append("--verbose")
    words += [str(word) for word in info.user_data.get(_EXTRA_OPTIONS, [])] + overrides
    return [*words, "--", environment.python(), "-m", "determined.launch.wrap_rank", _RANKS, "--", *script]


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
    if gang.node > 0:
        return _serve(info, variables)
    if shutil.which("horovodrun") is None:
        raise FailedPrecondition("horovodrun is not installed here; run: pip install 'determined[horovod]'")
    overrides = (_reach_peers(info) if gang.nodes > 1 else []) + arguments.overrides
    interface = variables.get(ENV_INTER_NODE_NETWORK_INTERFACE)
    command = horovodrun(gang, info, environment.ssh_port(), overrides, arguments.script, interface)
    return launch_foreign(command, variables)


def _serve(info: ClusterInfo, variables: dict[str, str]) -> int:
    """A node that others log in to: it does not keep the task alive."""
    from determined.launch import _ssh

    resource = variables.get(ENV_RESOURCES_ID)
    if not resource:
        raise FailedPrecondition(f"{ENV_RESOURCES_ID} is not set; several nodes need it to tell the master who serves")
    port = environment.ssh_port()
    with _ssh.session_of(info) as session:
        session.post(f"/api/v1/allocations/{info.allocation_id}/resources/{resource}/daemon", {})
        keys = _ssh.exchange_keys(session, info, _directory())
    address = info.container_addrs[info.container_rank]
    return launch_foreign(_ssh.sshd(keys, address, port), variables)


def _reach_peers(info: ClusterInfo) -> list[str]:
    """Options by which horovodrun gets into the other nodes, once all of them answer."""
    from determined.launch import _ssh

    port = environment.ssh_port()
    with _ssh.session_of(info) as session:
        keys = _ssh.exchange_keys(session, info, _directory())
    _ssh.wait_for_peers(info.container_addrs[1:], port, _PEER_SECONDS)
    return ["--ssh-identity-file", str(keys.identity)]


def _directory() -> Path:
    found = environment.run_dir()
    if found is None:
        raise FailedPrecondition("DET_RUN_DIR is no directory; several nodes need it for their ssh keys")
    return found / "ssh"


def _fusion(optimizations: Mapping[str, Any]) -> list[str]:
    if optimizations.get("auto_tune_tensor_fusion"):
        return ["--autotune", "--autotune-log-file", os.devnull]
    threshold = optimizations.get("tensor_fusion_threshold", 64)
    cycle = optimizations.get("tensor_fusion_cycle_time", 1)
    return ["--fusion-threshold-mb", str(threshold), "--cycle-time-ms", str(cycle)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
