"""`python3 -m determined.launch.deepspeed (--trial T | SCRIPT...)`: one process per slot, with DeepSpeed's variables.

Each node's launcher starts its own ranks, so no ssh between nodes is needed.
"""

import sys

from determined.constants import ENV_CHIEF_IP, ENV_INTER_NODE_NETWORK_INTERFACE
from determined.launch import environment
from determined.launch._arguments import parse, usage
from determined.launch._program import launch, program
from determined.launch._topology import Gang, Rank, cluster_info, gang_of, hostfile, rendezvous_at
from determined.launch._worker import Work

_NAME = "deepspeed"
_HOSTFILE = "deepspeed-hostfile"


def main(words: list[str]) -> int:
    return program(usage(_NAME), lambda: _run(words))


def rank_variables(gang: Gang, rank: Rank, address: tuple[str, int]) -> dict[str, str]:
    """Return what `deepspeed.init_distributed` and `DistributedContext.from_deepspeed` read."""
    numbers = {
        "RANK": rank.rank,
        "WORLD_SIZE": gang.size,
        "LOCAL_RANK": rank.local,
        "LOCAL_SIZE": gang.local_size,
        "LOCAL_WORLD_SIZE": gang.local_size,
        "CROSS_RANK": gang.node,
        "CROSS_SIZE": gang.nodes,
        "MASTER_PORT": address[1],
    }
    return {name: str(number) for name, number in numbers.items()} | {"MASTER_ADDR": address[0]}


def _run(words: list[str]) -> int:
    arguments = parse(words, overridable=False)
    gang = gang_of(cluster_info(_NAME))
    variables = _shared_variables(gang)
    address = rendezvous_at(gang)
    return launch(
        [Work(arguments.script, variables | rank_variables(gang, rank, address), rank.rank) for rank in gang.ranks]
    )


def _shared_variables(gang: Gang) -> dict[str, str]:
    variables = dict(environment.variables()) | {"USE_DEEPSPEED": "1", ENV_CHIEF_IP: gang.chief}
    if gang.local_size > 1:
        # As torchrun: processes that each use every core slow one another down.
        variables.setdefault("OMP_NUM_THREADS", "1")
    interface = variables.get(ENV_INTER_NODE_NETWORK_INTERFACE)
    if interface and variables.get("CUDA_VISIBLE_DEVICES"):
        variables.setdefault("NCCL_SOCKET_IFNAME", interface)
    run_dir = environment.run_dir()
    if gang.nodes > 1 and run_dir is not None:
        (run_dir / _HOSTFILE).write_text(hostfile(gang))
        variables["DET_DEEPSPEED_HOSTFILE_PATH"] = str(run_dir / _HOSTFILE)
    return variables


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
