"""Stage 4: the same training on several processes. `launcher` starts one worker per slot; workers train in step.

`python3 4_distributed.py launcher` is the entrypoint. Off cluster it starts two workers; `python3 4_distributed.py` by
itself trains in this one process.
"""

import json
import logging
import pathlib
import subprocess
import sys
import time

import determined as det


def save_state(x: float, steps_completed: int, trial_id: int, directory: pathlib.Path) -> None:
    state = {"x": x, "steps_completed": steps_completed, "trial_id": trial_id}
    (directory / "state.json").write_text(json.dumps(state))


def load_state(trial_id: int, directory: pathlib.Path) -> tuple[float, int]:
    """The weight and the batch to start from; another trial's checkpoint gives its weight only."""
    state = json.loads((directory / "state.json").read_text())
    if state["trial_id"] == trial_id:
        return state["x"], state["steps_completed"]
    return state["x"], 0


def main(core_context: det.core.Context, latest_checkpoint: str | None, trial_id: int, increment_by: float) -> None:
    rank = core_context.distributed.rank
    x, starting_batch = 0.0, 0
    if latest_checkpoint is not None:
        # Every rank enters; those of one node share one download.
        with core_context.checkpoint.restore_path(latest_checkpoint) as path:
            x, starting_batch = load_state(trial_id, path)
        logging.info("going on from checkpoint %s at batch %s", latest_checkpoint, starting_batch)

    batch = starting_batch
    last_checkpoint_batch = starting_batch
    for op in core_context.searcher.operations():
        while batch < op.length:
            # A "distributed" increment: every rank brings its own, and all add the same sum.
            all_increment_bys = core_context.distributed.allgather(increment_by + rank)
            x += sum(all_increment_bys)
            batch += 1
            time.sleep(0.1)
            if batch % 10 == 0:
                # Some logs are easier to read when only the chief writes them.
                if rank == 0:
                    logging.info("steps_completed=%s x=%s", batch, x)
                    # Only the chief may report metrics and progress, and upload checkpoints.
                    core_context.train.report_training_metrics(steps_completed=batch, metrics={"x": x})
                    op.report_progress(batch)
                    with core_context.checkpoint.store_path({"steps_completed": batch}) as (path, _storage_id):
                        save_state(x, batch, trial_id, path)
                last_checkpoint_batch = batch
                # Every rank asks, and all get the same answer: they leave after the same batch.
                if core_context.preempt.should_preempt():
                    return
        # Save before completing: a trial that ended between the two would be complete and have no checkpoint.
        # Again, only the chief may upload checkpoints.
        if rank == 0 and last_checkpoint_batch != batch:
            with core_context.checkpoint.store_path({"steps_completed": batch}) as (path, _storage_id):
                save_state(x, batch, trial_id, path)
        last_checkpoint_batch = batch
        # Only the chief may report validation metrics and complete operations.
        if rank == 0:
            core_context.train.report_validation_metrics(steps_completed=batch, metrics={"x": x})
            op.report_completed(x)


def launcher_main(slots_per_node: int, num_nodes: int, cross_rank: int) -> int:
    """Start one worker per slot of this node. When one fails, the others have no peers and are ended too."""
    workers = []
    for local_rank in range(slots_per_node):
        rank = cross_rank * slots_per_node + local_rank
        # wrap_rank marks each line of a worker's output, so that the log can be filtered by rank.
        command = [sys.executable, "-m", "determined.launcher.wrap_rank", str(rank), "--"]
        command += [sys.executable, __file__, "worker", str(local_rank)]
        workers.append(subprocess.Popen(command))
    while any(worker.poll() is None for worker in workers):
        if any(worker.poll() for worker in workers):
            for worker in workers:
                worker.terminate()
        time.sleep(0.1)
    failures = [worker.returncode for worker in workers if worker.returncode != 0]
    if failures:
        print(f"{len(failures)} of {len(workers)} workers on node {cross_rank} of {num_nodes} failed", file=sys.stderr)
    return 1 if failures else 0


def worker_main(slots_per_node: int, num_nodes: int, cross_rank: int, chief_ip: str, local_rank: int) -> None:
    distributed = det.core.DistributedContext(
        rank=cross_rank * slots_per_node + local_rank,
        size=num_nodes * slots_per_node,
        local_rank=local_rank,
        local_size=slots_per_node,
        cross_rank=cross_rank,
        cross_size=num_nodes,
        chief_ip=chief_ip,
    )
    with det.core.init(distributed=distributed) as core_context:
        main(core_context, latest_checkpoint, trial_id, increment_by=hparams["increment_by"])


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format=det.LOG_FORMAT)
    role = sys.argv[1] if len(sys.argv) > 1 else "alone"
    info = det.get_cluster_info()
    on_cluster = info is not None and info.task_type == "TRIAL"
    if on_cluster:
        latest_checkpoint, trial_id, hparams = info.latest_checkpoint, info.trial.trial_id, info.trial.hparams
        slots_per_node = len(info.slot_ids)
        num_nodes, cross_rank, chief_ip = len(info.container_addrs), info.container_rank, info.container_addrs[0]
    else:
        latest_checkpoint, trial_id, hparams = None, -1, {"increment_by": 1}
        slots_per_node, num_nodes, cross_rank, chief_ip = 2, 1, 0, "127.0.0.1"

    if role == "launcher":
        sys.exit(launcher_main(slots_per_node, num_nodes, cross_rank))
    if role == "worker":
        worker_main(slots_per_node, num_nodes, cross_rank, chief_ip, local_rank=int(sys.argv[2]))
    else:
        with det.core.init() as core_context:
            main(core_context, latest_checkpoint, trial_id, increment_by=hparams["increment_by"])
