"""Trains as the searcher says, reports, saves after every second batch and leaves when it is asked to."""

import json

from line import Line

import determined as det


def save(core_context: det.core.Context, line: Line, batches: int) -> None:
    with core_context.checkpoint.store_path({"steps_completed": batches}) as (path, _storage_id):
        (path / "state.json").write_text(json.dumps({"batches": batches, "line": line.state()}))


def main(core_context: det.core.Context, info: det.ClusterInfo) -> None:
    lr = float(info.trial.hparams["lr"])
    if lr < 0:
        raise det.InvalidHP("lr is negative")
    line, batches = Line(lr, info.trial.trial_seed), 0
    if info.latest_checkpoint is not None:
        with core_context.checkpoint.restore_path(info.latest_checkpoint) as path:
            state = json.loads((path / "state.json").read_text())
        line.load(state["line"])
        batches = state["batches"]
    for op in core_context.searcher.operations():
        while batches < op.length:
            loss = line.train_batch()
            batches += 1
            if batches % 2 == 0:
                core_context.train.report_training_metrics(batches, {"loss": loss})
                op.report_progress(batches)
                save(core_context, line, batches)
            if batches % 4 == 0:
                core_context.train.report_validation_metrics(batches, {"validation_loss": line.loss()})
            if batches % 2 == 0 and core_context.preempt.should_preempt():
                return
        op.report_completed(line.loss())


if __name__ == "__main__":
    with det.core.init() as core_context:
        main(core_context, det.get_cluster_info())
