"""`python3 -m determined.launch.torch_distributed [[TORCHRUN OPTIONS...] --] (--trial T | SCRIPT...)`.

Starts one process per slot with the variables that torchrun sets. It needs no torch for that, which saves its import;
with options of torchrun it runs torchrun itself.
"""

import sys

from determined._info import ClusterInfo
from determined.constants import ENV_CHIEF_IP, PEER_GRACE_SECONDS
from determined.launch import environment
from determined.launch._arguments import parse, usage
from determined.launch._program import launch, launch_foreign, program
from determined.launch._topology import Gang, Rank, cluster_info, gang_of, rendezvous_at
from determined.launch._worker import Work

_NAME = "torch_distributed"


def main(words: list[str]) -> int:
    return program(usage(_NAME, overrides="TORCHRUN OPTIONS"), lambda: _run(words))


def rank_variables(gang: Gang, rank: Rank, address: tuple[str, int], run_id: str) -> dict[str, str]:
    """Return what torchrun tells a process; USE_TORCH_DISTRIBUTED and the chief's address are ours."""
    numbers = {
        "RANK": rank.rank,
        "LOCAL_RANK": rank.local,
        "ROLE_RANK": rank.rank,
        "GROUP_RANK": gang.node,
        "WORLD_SIZE": gang.size,
        "LOCAL_WORLD_SIZE": gang.local_size,
        "ROLE_WORLD_SIZE": gang.size,
        "GROUP_WORLD_SIZE": gang.nodes,
        "MASTER_PORT": address[1],
        "TORCHELASTIC_RESTART_COUNT": 0,
        "TORCHELASTIC_MAX_RESTARTS": 0,
    }
    words = {
        "ROLE_NAME": "default",
        "MASTER_ADDR": address[0],
        "TORCHELASTIC_RUN_ID": run_id,
        # Rank 0 holds the store: this launcher is none of torch's.
        "TORCHELASTIC_USE_AGENT_STORE": "False",
    }
    return {name: str(number) for name, number in numbers.items()} | words


def torchrun(gang: Gang, overrides: list[str], script: list[str]) -> list[str]:
    """Options given twice are the user's."""
    address, port = rendezvous_at(gang)
    python = environment.python()
    options = {
        "nnodes": gang.nodes,
        "nproc_per_node": gang.local_size,
        "node_rank": gang.node,
        "max_restarts": 0,
        "master_addr": address,
        "master_port": port,
    }
    given = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    marked = [python, "-m", "determined.launch.wrap_rank", "--no-redirect-stdio", "RANK", "--", *script]
    return [python, "-m", "torch.distributed.run", *given, *overrides, "--no_python", *marked]


def _run(words: list[str]) -> int:
    arguments = parse(words, overridable=True)
    info = cluster_info(_NAME)
    gang = gang_of(info)
    variables = _shared_variables(gang)
    if not arguments.overrides:
        return launch(_work(info, gang, arguments.script, variables))
    # torchrun waits half a minute between TERM and KILL for the peers of a failed rank; versions that cannot be told
    # otherwise do not look at these variables.
    variables.setdefault("PET_SHUTDOWN_TIMEOUT", f"{PEER_GRACE_SECONDS:.0f}")
    variables.setdefault("TORCH_ELASTIC_SHUTDOWN_TIMEOUT", f"{PEER_GRACE_SECONDS:.0f}")
    return launch_foreign(torchrun(gang, arguments.overrides, arguments.script), variables)


def _work(info: ClusterInfo, gang: Gang, script: list[str], variables: dict[str, str]) -> list[Work]:
    address = rendezvous_at(gang)
    return [
        Work(script, variables | rank_variables(gang, rank, address, info.allocation_id), rank.rank)
        for rank in gang.ranks
    ]


def _shared_variables(gang: Gang) -> dict[str, str]:
    variables = dict(environment.variables()) | {"USE_TORCH_DISTRIBUTED": "True", ENV_CHIEF_IP: gang.chief}
    if gang.local_size > 1:
        # As torchrun: processes that each use every core slow one another down.
        variables.setdefault("OMP_NUM_THREADS", "1")
    return variables


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
