"""A launch layer of one's own: started on every node once all are up, it starts the training there as it sees fit.

Its arguments are the entrypoint script. Where the nodes are and how many slots each has it finds in its environment.
"""

import json
import os
import subprocess
import sys
import time


def worker_variables(local_rank: int) -> dict[str, str]:
    slot_counts = json.loads(os.environ["DET_CONTAINER_SLOT_COUNTS"])
    node = int(os.environ["DET_CONTAINER_RANK"])
    numbers = {
        "RANK": sum(slot_counts[:node]) + local_rank,
        "SIZE": sum(slot_counts),
        "LOCAL_RANK": local_rank,
        "LOCAL_SIZE": slot_counts[node],
        "CROSS_RANK": node,
        "CROSS_SIZE": len(slot_counts),
    }
    return {f"MY_{name}": str(number) for name, number in numbers.items()}


def main(script: list[str]) -> int:
    slots = len(json.loads(os.environ["DET_SLOT_IDS"]))
    workers = []
    for local_rank in range(slots):
        mine = worker_variables(local_rank)
        # wrap_rank marks each line of a worker's output, so that the log can be filtered by rank.
        command = [sys.executable, "-m", "determined.launch.wrap_rank", mine["MY_RANK"], "--", *script]
        workers.append(subprocess.Popen(command, env={**os.environ, **mine}))
    while any(worker.poll() is None for worker in workers):
        # One that fails leaves the others without a peer.
        if any(worker.poll() for worker in workers):
            for worker in workers:
                worker.terminate()
        time.sleep(0.1)
    return max(abs(worker.returncode) for worker in workers)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
