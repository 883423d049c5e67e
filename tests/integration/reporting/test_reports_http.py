"""Journals over HTTP: each record exactly once, stale runners told to go, bad records named and skipped."""

import uuid
from collections.abc import Callable
from typing import Any

import msgspec
from tracked import Tracked, one, write

from determined.constants import CONFIG_LINE_PREFIX
from determined.master.db.queries import log as log_queries
from determined.wire.report import (
    CheckpointReport,
    EarlyExit,
    Exit,
    ExitCause,
    LogLine,
    MetricReport,
    Phase,
    PreemptAck,
    Progress,
    ReportBatch,
    Segment,
    Status,
)

SubmitTrial = Callable[..., Tracked]


def metric(step: int, group: str = "training", **values: Any) -> MetricReport:
    return MetricReport(group, step, values, 1000.0 + step)


def logged(client: Any, trial: Tracked, **fields: Any) -> list[dict[str, Any]]:
    return [line["result"] for line in client.lines(f"/api/v1/trials/{trial.trial_id}/logs", fields=fields)]


def steps(client: Any, trial: Tracked, group: str = "training") -> list[int]:
    fields = {"trialIds": trial.trial_id, "group": group}
    pages = client.lines("/api/v1/trials/metrics/trial_metrics", fields=fields)
    return [report["totalBatches"] for page in pages for report in page["result"]["metrics"]]


def test_a_batch_sent_again_changes_nothing(trial: Tracked, admin: Any) -> None:
    segment = Segment("user-1", 1, [metric(1, loss=0.5), LogLine("hello", 5.0), metric(2, loss=0.4)])
    for _ in range(3):
        answer = trial.post(segment)
        assert (answer.status, answer.json["positions"]) == (200, {"user-1": 3})
    assert steps(admin, trial) == [1, 2]
    assert [line["log"] for line in logged(admin, trial)].count("hello") == 1


def test_an_overlapping_batch_adds_only_what_is_new(trial: Tracked, admin: Any) -> None:
    trial.post(Segment("user-1", 1, [metric(1, loss=1.0), metric(2, loss=2.0)]))
    answer = trial.post(Segment("user-1", 2, [metric(2, loss=2.0), metric(3, loss=3.0)]))
    assert answer.json["positions"] == {"user-1": 3}
    assert steps(admin, trial) == [1, 2, 3]


def test_a_gap_is_refused_with_the_known_positions_and_writes_nothing(trial: Tracked, admin: Any) -> None:
    trial.send(metric(1, loss=1.0))
    answer = trial.post(Segment("logs", 1, [LogLine("x", 1.0)]), Segment("user-1", 3, [metric(3, loss=3.0)]))
    assert answer.status == 409
    assert answer.json["error"]["details"]["positions"] == {"user-1": 1}
    assert steps(admin, trial) == [1]
    assert "x" not in [line["log"] for line in logged(admin, trial)]


def test_journals_of_one_runner_advance_separately(trial: Tracked) -> None:
    answer = trial.post(
        Segment("logs", 1, [LogLine("a", 1.0)]), Segment("user-7", 1, [Status("training"), metric(1, loss=1.0)])
    )
    assert answer.json["positions"] == {"logs": 1, "user-7": 2}
    assert answer.json["ended"] is False


def test_a_report_of_a_stale_run_is_gone(trial: Tracked) -> None:
    trial.send(metric(1, loss=1.0))
    write(trial.master, lambda conn: conn.exec_driver_sql("UPDATE trials SET run_id = run_id + 1"))
    answer = trial.post(Segment("user-1", 2, [metric(2, loss=2.0)]))
    assert answer.status == 410


def test_an_unknown_runner_is_gone(trial: Tracked) -> None:
    path = f"/api/v1/allocations/{trial.launch.allocation_id}/resources/none/reports"
    headers = {"Grpc-Metadata-x-allocation-token": f"Bearer {trial.launch.token}"}
    body = msgspec.msgpack.encode(ReportBatch([Segment("logs", 1, [LogLine("x", 1.0)])]))
    assert trial.master.anonymous.post(path, body, headers=headers).status == 410


def test_only_the_allocation_itself_may_report(submit_trial: SubmitTrial, admin: Any) -> None:
    mine, other = submit_trial(), submit_trial()
    body = msgspec.msgpack.encode(ReportBatch([Segment("logs", 1, [LogLine("x", 1.0)])]))
    assert admin.post(mine.path, body).status == 403
    headers = {"Grpc-Metadata-x-allocation-token": f"Bearer {other.launch.token}"}
    assert mine.master.anonymous.post(mine.path, body, headers=headers).status == 403


def test_malformed_batches_are_the_callers_error(trial: Tracked) -> None:
    assert trial.post_raw(b"\xff\x00garbage").status == 400
    assert trial.post_raw(b"").status == 400
    assert trial.post_raw(b'[[["user-1",1,[["nonsense",1]]]]]', "application/json").status == 400
    assert trial.post(Segment("user-1", 0, [LogLine("x", 1.0)])).status == 409


def test_json_batches_are_understood(trial: Tracked, admin: Any) -> None:
    raw = msgspec.json.encode(ReportBatch([Segment("user-1", 1, [metric(1, loss=1.5)])]))
    assert trial.post_raw(raw, "application/json; charset=utf-8").status == 200
    assert steps(admin, trial) == [1]


def test_bad_records_are_skipped_and_said_in_the_task_log(trial: Tracked, admin: Any) -> None:
    trial.send(
        metric(1, loss=1.0),
        metric(1, loss=2.0),
        metric(2, "validation", loss=None),
        metric(3, "a.b", x=1.0),
        CheckpointReport(str(uuid.uuid4()), 2**63, {}, {}, 1.0),
        CheckpointReport(str(uuid.uuid4()), 5, {}, {}, 1.0, storage_id=999),
        Progress(7.5),
        EarlyExit("NO_SUCH_REASON"),
        Phase("NO_SUCH_PHASE", 1.0),
        metric(4, loss=4.0),
    )
    assert steps(admin, trial) == [1, 4]
    warnings = [x["log"] for x in logged(admin, trial, levels="LOG_LEVEL_WARNING") if "dropped" in x["log"]]
    assert len(warnings) >= 6
    assert any("already 1.0" in text for text in warnings)


def test_records_of_every_kind_take_effect_in_order(trial: Tracked, admin: Any) -> None:
    checkpoint = str(uuid.uuid4())
    trial.send(Phase("PULLING", 1.0), Phase("STARTING", 1.0), Phase("RUNNING", 1.0), source="logs")
    trial.send(
        Status("training"),
        metric(10, loss=0.5),
        Progress(0.25),
        metric(10, "validation", loss=0.75),
        CheckpointReport(checkpoint, 10, {"steps_completed": 10}, {"a.bin": 3}, 2.0),
        PreemptAck(),
    )
    trial_id = trial.trial_id
    assert one(trial.master, f"SELECT runner_state FROM trials WHERE id = {trial_id}") == "training"
    assert one(trial.master, f"SELECT best_validation_value FROM trials WHERE id = {trial_id}") == 0.75
    assert one(trial.master, f"SELECT latest_checkpoint FROM trials WHERE id = {trial_id}") == checkpoint
    assert one(trial.master, f"SELECT progress FROM trials WHERE id = {trial_id}") == 0.25
    assert one(trial.master, "SELECT count(*) FROM allocations WHERE preempt_acked_at IS NOT NULL") == 1
    assert one(trial.master, "SELECT state FROM runners") == "RUNNING"


def test_the_exit_ends_the_trial_and_voids_the_token(trial: Tracked, admin: Any) -> None:
    trial.send(LogLine("bye", 1.0), Exit(ExitCause.EXITED, 0, "exit 0", 2.0), source="logs")
    assert one(trial.master, f"SELECT state FROM trials WHERE id = {trial.trial_id}") == "COMPLETED"
    assert trial.post(Segment("logs", 3, [LogLine("late", 3.0)])).status == 410
    texts = [line["log"] for line in logged(admin, trial)]
    assert texts.index("bye") < len(texts) - 1
    assert "late" not in texts


def test_a_non_trial_cannot_report_metrics_but_may_log(trial: Tracked, admin: Any) -> None:
    """A task without a trial keeps its journal moving."""

    def detach(conn: Any) -> None:
        conn.exec_driver_sql("UPDATE allocations SET trial_id = NULL")

    write(trial.master, detach)
    trial.send(metric(1, loss=1.0), LogLine("still here", 1.0))
    lines = [x["result"]["log"] for x in admin.lines(f"/api/v1/tasks/{trial.task_id}/logs")]
    assert "still here" in lines
    assert any("not a trial" in text for text in lines)


def test_log_policies_label_the_trial_and_remember_hits(submit_trial: SubmitTrial, admin: Any) -> None:
    trial = submit_trial(
        log_policies=[
            {"name": "no retry", "pattern": "^fatal: .*$", "action": "cancel_retries"},
            {"name": "bad node", "pattern": "xid \\d+", "action": "exclude_node"},
        ]
    )
    lines = ["fine", CONFIG_LINE_PREFIX + "CUDA out of memory", "fatal: disk", "dmesg xid 79 seen", "fatal: two"]
    trial.send(*(LogLine(text, float(i)) for i, text in enumerate(lines)), source="logs")
    trial.send(LogLine("a piece of the config: CUDA out of memory", 6.0, source="agent"), source="logs")
    hits = "SELECT count(*) FROM log_policy_hits WHERE action = '{}'"
    assert one(trial.master, hits.format("cancel_retries")) == 1
    assert one(trial.master, hits.format("exclude_node")) == 1
    assert one(trial.master, "SELECT node_id FROM log_policy_hits WHERE action = 'exclude_node'") == "node0"
    assert one(trial.master, f"SELECT log_policy_label FROM trials WHERE id = {trial.trial_id}") == "no retry"
    trial.send(LogLine("xid 80", 9.0), LogLine("CUDA out of memory. Tried", 9.0), source="logs")
    assert one(trial.master, f"SELECT log_policy_label FROM trials WHERE id = {trial.trial_id}") == "CUDA OOM"
    said = [x["log"] for x in logged(admin, trial, sources="master") if "will not schedule on node0" in x["log"]]
    assert len(said) == 1


def test_followers_are_woken_by_reports(trial: Tracked, admin: Any) -> None:
    stream = admin.lines(f"/api/v1/trials/{trial.trial_id}/logs", fields={"follow": "true", "sources": "task"})
    trial.send(LogLine("one", 1.0), source="logs")
    assert next(stream)["result"]["log"] == "one"
    trial.send(LogLine("two", 2.0), source="logs")
    assert next(stream)["result"]["log"] == "two"
    trial.send(LogLine("three", 3.0), Exit(ExitCause.EXITED, 0, "exit 0", 2.0), source="logs")
    assert [line["result"]["log"] for line in stream] == ["three"]


def test_answers_tell_the_runner_that_its_allocation_ended(submit_trial: SubmitTrial) -> None:
    trial = submit_trial()

    def end(conn: Any) -> None:
        conn.exec_driver_sql("UPDATE allocations SET state = 'TERMINATED', ended_at = 1")

    write(trial.master, end)
    assert trial.send(LogLine("drained after the end", 1.0), source="logs")["ended"] is True


def test_lines_of_many_small_batches_share_rows(trial: Tracked, admin: Any) -> None:
    for i in range(60):
        trial.send(LogLine(f"line {i}", float(i)), source="logs")
    assert one(trial.master, "SELECT count(*) FROM log_chunks") == 1
    texts = [x["log"] for x in logged(admin, trial, sources="task")]
    assert texts == [f"line {i}" for i in range(60)]


def test_json_of_a_line_is_what_the_official_client_needs(trial: Tracked, admin: Any) -> None:
    trial.send(LogLine("text", 1646187318.299569, "stderr", "INFO", 1), source="logs")
    container = trial.launch.container_id
    (line,) = logged(admin, trial, sources="task")
    assert line["message"] == f"[2022-03-02T02:15:18.299569Z] {container[:8]} [rank=1] || INFO: text\n"
    assert (line["level"], line["rankId"], line["stdtype"]) == ("LOG_LEVEL_INFO", 1, "stderr")
    assert isinstance(line["id"], str)


def test_master_lines_need_no_runner(trial: Tracked, admin: Any) -> None:
    now = trial.master.ctx.clock.now()
    write(trial.master, lambda conn: log_queries.append_master_line(conn, now, trial.task_id, "from the master"))
    assert "from the master" in [x["log"] for x in logged(admin, trial, sources="master")]
