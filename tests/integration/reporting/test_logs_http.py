"""Logs over HTTP: filters, head, tail, follow, fields, posting, retention."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from tracked import IdleEngine, MovedClock, Tracked, one, submit, until, write

from determined.wire.report import Exit, ExitCause, LogLine

SubmitTrial = Callable[..., Tracked]

LINES = [
    LogLine("plain start", 100.0, "stdout", None, None),
    LogLine("rank zero", 200.0, "stdout", "INFO", 0),
    LogLine("rank one warns", 300.0, "stderr", "WARNING", 1),
    LogLine("Traceback: boom", 400.0, "stderr", "ERROR", 1),
    LogLine("plain end", 500.0, "stdout", None, None),
]

# query -> indices into LINES, in the order they are answered
FILTERS: list[tuple[dict[str, Any], list[int]]] = [
    ({}, [0, 1, 2, 3, 4]),
    ({"rankIds": 1}, [2, 3]),
    ({"rankIds": [0, 1]}, [1, 2, 3]),
    ({"rankIds": -1}, [0, 4]),
    ({"levels": ["LOG_LEVEL_WARNING", "LOG_LEVEL_ERROR"]}, [2, 3]),
    ({"levels": "LOG_LEVEL_CRITICAL"}, []),
    ({"levels": "LOG_LEVEL_UNSPECIFIED"}, [0, 4]),
    ({"stdtypes": "stderr"}, [2, 3]),
    ({"timestampAfter": "1970-01-01T00:05:00Z"}, [3, 4]),
    ({"timestampBefore": "1970-01-01T00:05:00Z"}, [0, 1, 2]),
    ({"searchText": "PLAIN"}, [0, 4]),
    ({"searchText": "."}, []),
    ({"searchText": "^plain (start|end)$", "enableRegex": "true"}, [0, 4]),
    ({"searchText": "rank", "levels": "LOG_LEVEL_INFO"}, [1]),
    ({"agentIds": "node0"}, [0, 1, 2, 3, 4]),
    ({"agentIds": "other"}, []),
    ({"limit": 2}, [0, 1]),
    ({"limit": 2, "orderBy": "ORDER_BY_DESC"}, [4, 3]),
    ({"orderBy": "ORDER_BY_DESC", "rankIds": 1}, [3, 2]),
]


@pytest.fixture
def logged(trial: Tracked) -> Tracked:
    trial.send(*LINES, source="logs")
    return trial


def texts(client: Any, trial: Tracked, **fields: Any) -> list[str]:
    found = client.lines(f"/api/v1/tasks/{trial.task_id}/logs", fields={"sources": "task"} | fields)
    return [line["result"]["log"] for line in found]


def test_every_filter_picks_its_lines(logged: Tracked, admin: Any) -> None:
    for fields, found in FILTERS:
        assert texts(admin, logged, **fields) == [LINES[i].text for i in found], fields


def test_filters_by_allocation_and_container(logged: Tracked, admin: Any) -> None:
    launch = logged.launch
    assert len(texts(admin, logged, allocationIds=launch.allocation_id, containerIds=launch.container_id)) == 5
    assert texts(admin, logged, allocationIds="none") == []
    assert texts(admin, logged, containerIds="none") == []


def test_bad_filters_are_the_callers_error(logged: Tracked, admin: Any) -> None:
    path = f"/api/v1/tasks/{logged.task_id}/logs"
    for bad in (
        {"searchText": "(", "enableRegex": "true"},
        {"levels": "LOUD"},
        {"timestampAfter": "yesterday"},
        {"rankIds": "x"},
        {"limit": -5},
    ):
        assert admin.get(path, fields=bad).status == 400, bad
    assert admin.get("/api/v1/tasks/none/logs").status == 404
    assert admin.get("/api/v1/trials/99/logs").status == 404


def test_head_and_tail_of_a_long_log(trial: Tracked, admin: Any) -> None:
    for start in range(0, 30_000, 3000):
        trial.send(*(LogLine(f"line {start + i}", 1.0) for i in range(3000)), source="logs")
    assert texts(admin, trial, limit=3) == ["line 0", "line 1", "line 2"]
    assert texts(admin, trial, limit=3, orderBy="ORDER_BY_DESC") == ["line 29999", "line 29998", "line 29997"]
    assert texts(admin, trial) == [f"line {i}" for i in range(30_000)]
    assert texts(admin, trial, searchText="line 2999[89]", enableRegex="true") == ["line 29998", "line 29999"]


def test_a_log_is_read_on_from_a_line_known_by_its_id(trial: Tracked, admin: Any) -> None:
    for start in range(0, 9000, 3000):
        trial.send(*(LogLine(f"line {start + i}", 1.0) for i in range(3000)), source="logs")
    path = f"/api/v1/trials/{trial.trial_id}/logs"
    found = list(admin.lines(path, fields={"searchText": "^line 4000$", "enableRegex": "true"}))
    known = found[0]["result"]["id"]
    later = admin.lines(path, fields={"afterId": known, "limit": 2})
    assert [x["result"]["log"] for x in later] == ["line 4001", "line 4002"]
    earlier = admin.lines(path, fields={"beforeId": known, "limit": 2, "orderBy": "ORDER_BY_DESC"})
    assert [x["result"]["log"] for x in earlier] == ["line 3999", "line 3998"]
    assert list(admin.lines(path, fields={"afterId": 1 << 62})) == []
    assert admin.get(path, fields={"beforeId": known}).status == 400
    assert admin.get(path, fields={"afterId": known, "orderBy": "ORDER_BY_DESC"}).status == 400


def test_ids_increase_without_gaps(logged: Tracked, admin: Any) -> None:
    lines = [x["result"] for x in admin.lines(f"/api/v1/tasks/{logged.task_id}/logs")]
    assert [line["id"] for line in lines] == [str(i + 1) for i in range(len(lines))]


def test_odd_text_survives(trial: Tracked, admin: Any) -> None:
    odd = ["", "nul \0 byte", "ünïcode 🎉", "x" * 8191, '"quoted" \\ back', "\t tab"]
    trial.send(*(LogLine(text, 1.0) for text in odd), source="logs")
    assert texts(admin, trial) == odd


def test_lines_of_a_broken_clock_are_kept(trial: Tracked, admin: Any) -> None:
    trial.send(*(LogLine("x", t) for t in (float("nan"), float("inf"), -1e300, 1e300)), source="logs")
    assert texts(admin, trial) == ["x"] * 4


def test_a_trial_shows_the_logs_of_all_its_tasks(logged: Tracked, admin: Any) -> None:
    def add_task(conn: Any) -> None:
        conn.exec_driver_sql(
            "INSERT INTO tasks (id, type, trial_id, experiment_id, start_time, next_log_id)"
            " SELECT id || '-1', type, trial_id, experiment_id, start_time + 1, 1 FROM tasks"
            f" WHERE id = '{logged.task_id}'"
        )

    write(logged.master, add_task)
    again = f"{logged.task_id}-1"
    body = {"logs": [{"taskId": again, "log": "continued\n", "timestamp": "2026-11-15T04:00:00.5Z"}]}
    assert admin.post("/api/v1/task/logs", body).status == 200
    path = f"/api/v1/trials/{logged.trial_id}/logs"
    lines = [x["result"] for x in admin.lines(path, fields={"sources": "task"})]
    assert [line["log"] for line in lines] == [*(line.text for line in LINES), "continued"]
    assert len({line["id"] for line in lines}) == len(lines)
    assert all(line["trialId"] == logged.trial_id for line in lines)
    newest = [x["result"]["log"] for x in admin.lines(path, fields={"limit": 2, "orderBy": "ORDER_BY_DESC"})]
    assert newest[0] == "continued"
    last_of_first = lines[-2]["id"]
    after = admin.lines(path, fields={"sources": "task", "afterId": last_of_first})
    assert [x["result"]["log"] for x in after] == ["continued"]
    before = admin.lines(path, fields={"sources": "task", "beforeId": lines[-1]["id"], "orderBy": "ORDER_BY_DESC"})
    assert [x["result"]["log"] for x in before] == [line.text for line in reversed(LINES)]


def test_posted_lines_are_checked(trial: Tracked, admin: Any) -> None:
    path, task = "/api/v1/task/logs", trial.task_id
    for bad in (
        {"logs": []},
        {},
        {"logs": [{"taskId": task, "log": "x", "id": 3}]},
        {"logs": [{"taskId": task, "log": "x"}, {"taskId": "other", "log": "y"}]},
        {"logs": [{"taskId": "", "log": "x"}]},
        {"logs": [{"taskId": task, "log": "x", "timestamp": "now"}]},
    ):
        assert admin.post(path, bad).status == 400, bad
    assert admin.post(path, {"logs": [{"taskId": "none", "log": "x"}]}).status == 404
    line = {"taskId": task, "log": "posted\n", "level": "LOG_LEVEL_ERROR", "rankId": 3, "source": "agent"}
    assert admin.post(path, {"logs": [line]}).status == 200
    (found,) = (x["result"] for x in admin.lines(f"/api/v1/tasks/{task}/logs", fields={"sources": "agent"}))
    assert (found["log"], found["level"], found["rankId"]) == ("posted", "LOG_LEVEL_ERROR", 3)


def test_the_older_endpoint_takes_a_bare_list(trial: Tracked, admin: Any) -> None:
    entry = {
        "task_id": trial.task_id,
        "log": "old",
        "timestamp": "2026-11-15T04:00:00+00:00",
        "rank": 2,
        "level": "info",
    }
    assert admin.post("/task-logs", [entry]).status == 200
    assert texts(admin, trial, rankIds=2, levels="LOG_LEVEL_INFO") == ["old"]
    for bad in ({"logs": []}, [1], [{"log": "x"}], [{"task_id": 3, "log": "x"}], [entry | {"rank": "x"}]):
        assert admin.post("/task-logs", bad).status == 400, bad


def test_a_task_writes_only_to_its_own_log(submit_trial: SubmitTrial) -> None:
    mine, other = submit_trial(), submit_trial()
    headers = {"Grpc-Metadata-x-allocation-token": f"Bearer {mine.launch.token}"}
    post = mine.master.anonymous.post
    assert post("/api/v1/task/logs", {"logs": [{"taskId": mine.task_id, "log": "x"}]}, headers=headers).status == 200
    assert post("/api/v1/task/logs", {"logs": [{"taskId": other.task_id, "log": "x"}]}, headers=headers).status == 403


def test_fields_list_what_can_be_filtered_by(logged: Tracked, admin: Any) -> None:
    (fields,) = (x["result"] for x in admin.lines(f"/api/v1/tasks/{logged.task_id}/logs/fields"))
    assert fields["rankIds"] == [0, 1]
    assert fields["stdtypes"] == ["stderr", "stdout"]
    assert fields["agentIds"] == ["node0"]
    assert logged.launch.allocation_id in fields["allocationIds"]
    assert "task" in fields["sources"]


def test_fields_are_followed_until_the_end(logged: Tracked, admin: Any) -> None:
    stream = admin.lines(f"/api/v1/trials/{logged.trial_id}/logs/fields", fields={"follow": "true"})
    assert next(stream)["result"]["rankIds"] == [0, 1]
    logged.send(LogLine("new rank", 1.0, rank=7), source="logs")
    assert next(stream)["result"]["rankIds"] == [0, 1, 7]
    logged.send(Exit(ExitCause.EXITED, 0, "exit 0", 2.0), source="logs")
    for line in stream:
        assert line["result"]["rankIds"] == [0, 1, 7]


def test_a_followed_task_log_ends_with_the_task(logged: Tracked, admin: Any) -> None:
    stream = admin.lines(f"/api/v1/tasks/{logged.task_id}/logs", fields={"follow": "true", "sources": "task"})
    assert [next(stream)["result"]["log"] for _ in LINES] == [line.text for line in LINES]
    logged.send(LogLine("last words", 9.0), Exit(ExitCause.EXITED, 0, "exit 0", 9.0), source="logs")
    assert [line["result"]["log"] for line in stream] == ["last words"]


def test_follow_stops_at_its_limit(logged: Tracked, admin: Any) -> None:
    assert texts(admin, logged, follow="true", limit=2) == [LINES[0].text, LINES[1].text]


def test_streams_end_when_the_master_stops(start_master: Any, sqlite_url: str) -> None:
    engine = IdleEngine()
    master = start_master(sqlite_url, engine_factory=lambda _ctx: [engine])
    trial = submit(master, engine)
    stream = master.client("admin").lines(f"/api/v1/trials/{trial.trial_id}/logs", fields={"follow": "true"})
    next(stream)
    master.ctx.bus.close()
    list(stream)


def test_retention_drops_the_logs_of_tasks_long_over(start_master: Any, db_url: str) -> None:
    clock, engine = MovedClock(), IdleEngine()
    master = start_master(
        db_url, engine_factory=lambda _ctx: [engine], clock=clock, retention_policy={"log_retention_days": 10}
    )
    ended = submit(master, engine)
    kept = submit(master, engine, retention_policy={"log_retention_days": -1})
    short = submit(master, engine, retention_policy={"log_retention_days": 0})
    running = submit(master, engine)
    for trial in (ended, kept, short, running):
        trial.send(LogLine("x", 1.0), source="logs")
    for trial in (ended, kept, short):
        trial.send(Exit(ExitCause.EXITED, 0, "exit 0", 2.0), source="logs")

    def chunks(trial: Tracked) -> int:
        return int(one(master, f"SELECT count(*) FROM log_chunks WHERE task_id = '{trial.task_id}'"))

    # tokens do not live as long as this clock is moved, so each sweep is asked for by a fresh login
    assert int(master.client("admin").post("/api/v1/cleanup_logs").json["removedCount"]) > 0
    assert [chunks(t) for t in (ended, kept, short, running)] == [1, 1, 0, 1]
    clock.moved = timedelta(days=11)
    master.client("admin").post("/api/v1/cleanup_logs")
    assert [chunks(t) for t in (ended, kept, short, running)] == [0, 1, 0, 1]
    assert master.client("determined").post("/api/v1/cleanup_logs").status == 403
    until(lambda: chunks(running) == 1)
