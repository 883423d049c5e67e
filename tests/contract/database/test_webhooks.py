"""Queries of webhooks, their triggers, and the delivery queue."""

from datetime import timedelta

from database_world import AWKWARD, NOW, World, after
from sqlalchemy import Connection

from determined.master.db.queries import webhook, webhook_delivery, webhook_source
from determined.master.db.rows.webhooks import WebhookDeliveryValues, WebhookValues

STATE = {"type": "EXPERIMENT_STATE_CHANGE", "condition": {"state": "COMPLETED"}}
LOG = {"type": "TASK_LOG", "condition": {"regex": AWKWARD}}


def make(conn: Connection, workspace_id: int | None = None, **more: str) -> int:
    values: WebhookValues = {
        "url": "http://h/", "type": "DEFAULT", "mode": "WORKSPACE", "name": AWKWARD, "workspace_id": workspace_id,
    }  # fmt: skip
    return webhook.create(conn, NOW, {**values, **more}, [STATE, LOG])  # type: ignore[typeddict-item, list-item]


def queued(webhook_id: int, event_id: str) -> WebhookDeliveryValues:
    event = {"type": "CUSTOM", "condition": {"text": AWKWARD}}
    return {"webhook_id": webhook_id, "event_id": event_id, "event_type": "CUSTOM", "event": event}


def test_webhooks_are_kept_with_their_triggers(conn: Connection, world: World) -> None:
    first, second = make(conn), make(conn, world.workspace_id, mode="SPECIFIC")
    assert webhook.count(conn) == 2
    assert [row.id for row in webhook.list_all(conn)] == [first, second]
    row = webhook.get(conn, second)
    assert row is not None
    assert (row.name, row.mode, row.workspace_id, row.created_at) == (AWKWARD, "SPECIFIC", world.workspace_id, NOW)
    assert [t.condition for t in webhook.triggers_of(conn, [second])] == [STATE["condition"], LOG["condition"]]
    assert [row.workspace_id for row in webhook.all_triggers(conn)] == [None, None, *[world.workspace_id] * 2]
    assert webhook.count_in(conn, world.workspace_id) == (1, 2)
    assert webhook.count_in(conn, world.workspace({})) == (0, 0)
    assert webhook.count_of_owner(conn, world.owner) == 1
    assert webhook.count_of_owner(conn, world.owner + 1000) == 0
    webhook.set_url(conn, first, "https://new/")
    changed = webhook.get(conn, first)
    assert changed is not None and changed.url == "https://new/"
    webhook_delivery.enqueue(conn, NOW, [queued(first, "a")])
    webhook.remove(conn, first)
    assert webhook.get(conn, first) is None
    assert len(webhook.all_triggers(conn)) == 2, "its triggers and deliveries go with it"


def test_a_user_sees_global_webhooks_and_those_of_own_workspaces(conn: Connection, world: World) -> None:
    everywhere, own = make(conn), make(conn, world.workspace_id)
    stranger = world.user({})
    assert [row.id for row in webhook.visible_to(conn, world.owner)] == [everywhere, own]
    assert [row.id for row in webhook.visible_to(conn, stranger)] == [everywhere]


def test_an_experiment_may_name_webhooks_of_its_workspace_and_of_the_cluster(conn: Connection, world: World) -> None:
    everywhere, own, _ = make(conn), make(conn, world.workspace_id), make(conn, world.workspace({}))
    assert [row.id for row in webhook.reachable_from(conn, world.workspace_id)] == [everywhere, own]


def test_triggers_are_armed_for_their_workspace(conn: Connection, world: World) -> None:
    everywhere, own, other = make(conn), make(conn, world.workspace_id), make(conn, world.workspace({}))
    ids = [trigger.id for trigger in webhook.all_triggers(conn) if trigger.type == "TASK_LOG"]
    assert [row.id for row in webhook.armed(conn, ids, world.workspace_id)] == [everywhere, own]
    assert [row.id for row in webhook.armed(conn, ids, None)] == [everywhere]
    assert webhook.armed(conn, [], world.workspace_id) == []
    webhook.remove(conn, own)
    assert [row.id for row in webhook.armed(conn, ids, world.workspace_id)] == [everywhere]
    (one,) = [row for row in ids if (found := webhook.armed_anywhere(conn, row)) is not None and found.id == other]
    found = webhook.armed_anywhere(conn, one)
    assert found is not None and (found.trigger_type, found.condition) == ("TASK_LOG", {"regex": AWKWARD})
    assert webhook.armed_anywhere(conn, 10**12) is None


def test_a_trigger_fires_once_for_a_task_and_once_for_a_trial(conn: Connection, world: World) -> None:
    make(conn)
    first, second = [trigger.id for trigger in webhook.all_triggers(conn)]
    trial_id = world.trial(world.experiment({}), {})
    task_id = world.task({})
    assert webhook.fire_once(conn, first, task_id=task_id)
    assert not webhook.fire_once(conn, first, task_id=task_id)
    assert webhook.unfired(conn, [first, second], task_id=task_id) == [second]
    assert webhook.unfired(conn, [first, second], trial_id=trial_id) == [first, second]
    assert webhook.unfired(conn, [], trial_id=trial_id) == []
    assert webhook.fire_once(conn, second, task_id=task_id)
    assert webhook.fire_once(conn, first, trial_id=trial_id)
    assert not webhook.fire_once(conn, first, trial_id=trial_id)
    assert webhook.fire_once(conn, second, trial_id=trial_id)
    webhook.forget_firings(conn, "EXPERIMENT_STATE_CHANGE", trial_id + 1000)
    assert webhook.unfired(conn, [first, second], trial_id=trial_id) == []
    webhook.forget_firings(conn, "EXPERIMENT_STATE_CHANGE", trial_id)
    assert webhook.unfired(conn, [first, second], trial_id=trial_id) == [first]
    assert webhook.unfired(conn, [first, second], task_id=task_id) == []


def test_an_event_knows_where_its_experiment_and_its_task_are(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({"name": AWKWARD})
    found = webhook_source.experiment(conn, experiment_id)
    assert found is not None
    assert (found.id, found.name, found.workspace_id, found.project_id) == (
        experiment_id, AWKWARD, world.workspace_id, world.home,
    )  # fmt: skip
    assert webhook_source.experiment(conn, experiment_id + 1000) is None
    trial_id = world.trial(experiment_id, {})
    task_id = world.task({"job_id": world.job({}), "trial_id": trial_id, "experiment_id": experiment_id})
    task = webhook_source.task(conn, task_id)
    assert task is not None
    assert (task.experiment_id, task.trial_id, task.workspace_id) == (experiment_id, trial_id, world.workspace_id)
    assert webhook_source.task(conn, "no-task") is None
    assert webhook_source.workspace_of_task(conn, task_id) == world.workspace_id
    assert webhook_source.workspace_of_task(conn, world.task({"job_id": world.job({})})) == world.workspace_id
    assert webhook_source.workspace_of_task(conn, "no-task") is None
    assert webhook_source.workspace_of_trial(conn, trial_id) == world.workspace_id
    assert webhook_source.workspace_of_trial(conn, trial_id + 1000) is None


def test_silent_trials_are_those_that_run_and_report_nothing(conn: Connection, world: World) -> None:
    make(conn)
    trigger_id = webhook.all_triggers(conn)[0].id
    reporting, silent, late, over, waiting = [world.trial(world.experiment({}), {}) for _ in range(5)]
    for trial_id in (reporting, silent):
        world.allocation(trial_id, {"state": "RUNNING", "started_at": NOW})
    world.allocation(late, {"state": "RUNNING", "started_at": after(90)})
    world.allocation(over, {"state": "TERMINATED", "started_at": NOW, "ended_at": after(1)})
    world.allocation(waiting, {"state": "PENDING"})
    webhook_source.set_report_times(conn, after(10), [reporting])
    webhook_source.set_report_times(conn, after(80), [reporting])
    webhook_source.set_report_times(conn, after(5), [late])
    found = webhook_source.silent_trials(conn, trigger_id, None, after(60), 10)
    assert [(row.trial_id, row.since) for row in found] == [(silent, NOW)]
    found = webhook_source.silent_trials(conn, trigger_id, None, after(95), 10)
    assert [(row.trial_id, row.since) for row in found] == [(reporting, after(80)), (silent, NOW), (late, after(90))]
    assert len(webhook_source.silent_trials(conn, trigger_id, None, after(95), 1)) == 1
    elsewhere = webhook_source.silent_trials(conn, trigger_id, world.workspace({}), after(95), 10)
    own = webhook_source.silent_trials(conn, trigger_id, world.workspace_id, after(60), 10)
    assert ([row.trial_id for row in own], elsewhere) == ([silent], [])
    webhook.fire_once(conn, trigger_id, trial_id=silent)
    assert webhook_source.silent_trials(conn, trigger_id, None, after(60), 10) == []


def test_unmanaged_trials_are_silent_since_their_start_or_last_report(conn: Connection, world: World) -> None:
    make(conn)
    trigger_id = webhook.all_triggers(conn)[0].id
    unmanaged = world.experiment({"unmanaged": True, "state": "ACTIVE"})
    silent, reporting, again = [world.trial(unmanaged, {"state": "ACTIVE", "start_time": NOW}) for _ in range(3)]
    world.trial(unmanaged, {"state": "PAUSED", "start_time": NOW})
    world.trial(world.experiment({"state": "ACTIVE"}), {"state": "ACTIVE", "start_time": NOW})
    world.trial(world.experiment({"unmanaged": True, "state": "ERROR"}), {"state": "ERROR", "start_time": NOW})
    managed = world.trial(world.experiment({}), {})
    world.allocation(managed, {"state": "RUNNING", "started_at": NOW})
    webhook_source.set_report_times(conn, after(80), [reporting, again])
    found = webhook_source.silent_trials(conn, trigger_id, None, after(60), 10)
    assert [(row.trial_id, row.since) for row in found] == [(silent, NOW), (managed, NOW)]
    found = webhook_source.silent_trials(conn, trigger_id, None, after(90), 2)
    assert [(row.trial_id, row.since) for row in found] == [(silent, NOW), (reporting, after(80))]
    assert webhook_source.silent_trials(conn, trigger_id, world.workspace({}), after(90), 10) == []
    webhook.fire_once(conn, trigger_id, trial_id=silent)
    found = webhook_source.silent_trials(conn, trigger_id, world.workspace_id, after(60), 10)
    assert [row.trial_id for row in found] == [managed]


def test_due_webhooks_come_with_the_owners_of_their_workspaces(conn: Connection, world: World) -> None:
    own, everywhere = make(conn, world.workspace_id), make(conn)
    webhook_delivery.enqueue(conn, NOW, [queued(own, "a"), queued(own, "b"), queued(everywhere, "c")])
    due = webhook_delivery.due_webhooks(conn, after(1), [])
    assert [(row.webhook_id, row.owner_id) for row in due] == [(own, world.owner), (everywhere, None)]


def test_a_delivery_is_claimed_by_one_and_finished_once(conn: Connection, world: World) -> None:
    busy, idle = make(conn), make(conn)
    webhook_delivery.enqueue(conn, NOW, [queued(busy, f"b{n}") for n in range(3)])
    webhook_delivery.enqueue(conn, after(1), [queued(idle, "i")])
    webhook_delivery.enqueue(conn, after(1), [])
    due = webhook_delivery.due_webhooks(conn, after(5), [])
    assert [(row.webhook_id, row.owner_id) for row in due] == [(busy, None), (idle, None)]
    assert [row.webhook_id for row in webhook_delivery.due_webhooks(conn, after(5), [busy])] == [idle]
    assert webhook_delivery.due_webhooks(conn, NOW - timedelta(seconds=1), []) == []
    claimed = webhook_delivery.claim(conn, after(5), busy, "me", 2)
    assert [(row.event_id, row.state, row.claimed_by) for row in claimed] == [
        ("b0", "SENDING", "me"), ("b1", "SENDING", "me"),
    ]  # fmt: skip
    assert [row.event_id for row in webhook_delivery.claim(conn, after(5), busy, "me", 9)] == ["b2"]
    assert webhook_delivery.claim(conn, after(5), busy, "me", 9) == []
    webhook_delivery.finish(
        conn, after(6), claimed[0].id, {"state": "DELIVERED", "status_code": 200, "answer": AWKWARD}
    )
    webhook_delivery.postpone(conn, after(60), claimed[1].id, {"status_code": 500, "error": "down"})
    assert webhook_delivery.count_waiting(conn, [busy, 99]) == {busy: 2}
    rows = {row.event_id: row for row in webhook_delivery.list_of(conn, busy, [], 10, 0)}
    assert list(rows) == ["b2", "b1", "b0"]
    assert (rows["b0"].attempts, rows["b0"].finished_at, rows["b0"].answer) == (1, after(6), AWKWARD)
    assert (rows["b1"].attempts, rows["b1"].next_attempt_at, rows["b1"].state) == (1, after(60), "PENDING")
    assert webhook_delivery.release_of_others(conn, "me") == 0
    assert webhook_delivery.release_of_others(conn, "next start") == 1, "b2 is sent by the next master"
    claimed = webhook_delivery.claim(conn, after(5), busy, "next start", 9)
    webhook_delivery.release(conn, [row.id for row in claimed])
    assert webhook_delivery.count_of(conn, busy, ["PENDING"]) == 2
    assert webhook_delivery.count_of(conn, busy, []) == 3
    assert [row.event_id for row in webhook_delivery.list_of(conn, busy, ["PENDING"], 1, 1)] == ["b1"]


def test_the_newest_delivery_of_each_webhook_is_found(conn: Connection, world: World) -> None:
    busy, idle, other = make(conn), make(conn), make(conn)
    webhook_delivery.enqueue(conn, NOW, [queued(busy, "first"), queued(other, "other"), queued(busy, "last")])
    last = webhook_delivery.list_of(conn, busy, [], 1, 0)[0]
    webhook_delivery.postpone(conn, after(60), last.id, {"status_code": 500, "error": AWKWARD})
    (newest,) = webhook_delivery.newest_of(conn, [busy, idle])
    assert (newest.id, newest.webhook_id, newest.state, newest.attempts) == (last.id, busy, "PENDING", 1)
    assert (newest.created_at, newest.status_code, newest.error) == (NOW, 500, AWKWARD)
    assert webhook_delivery.newest_of(conn, [idle]) == webhook_delivery.newest_of(conn, []) == []


def test_old_deliveries_are_removed_and_only_so_many_kept(conn: Connection, world: World) -> None:
    webhook_id = make(conn)
    webhook_delivery.enqueue(conn, NOW, [queued(webhook_id, f"e{n}") for n in range(6)])
    for n, row in enumerate(reversed(webhook_delivery.list_of(conn, webhook_id, [], 10, 0))):
        if n < 5:
            webhook_delivery.finish(conn, after(n), row.id, {"state": "FAILED"})
    assert webhook_delivery.prune(conn, after(1), 2) == 3
    assert [row.event_id for row in webhook_delivery.list_of(conn, webhook_id, [], 10, 0)] == ["e5", "e4", "e3"]
