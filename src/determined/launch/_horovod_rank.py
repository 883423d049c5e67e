"""`python3 -m determined.launch._horovod_rank SCRIPT...`: what horovodrun starts, in the surroundings of its node."""

import sys

from determined.launch import _rank_environment, wrap_rank
from determined.launch._program import program

_RANKS = "HOROVOD_RANK,OMPI_COMM_WORLD_RANK,PMI_RANK"


def main(script: list[str]) -> int:
    return program("", lambda: _run(script))


def _run(script: list[str]) -> int:
    with _rank_environment.listed(_rank_environment.enter()):
        return wrap_rank.main([_RANKS, "--", *script])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
