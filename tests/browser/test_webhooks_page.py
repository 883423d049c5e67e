"""Webhooks in the browser: created with every kind of trigger, tested, called, changed, deleted; by whoever may."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from ground import Watch, assert_accessible, sign_in, submit
from hostility import assert_inert
from playwright.sync_api import BrowserContext, Locator, Page, expect
from populated import ATTACK, MARKUP, TITLE

from cluster import Client, Cluster, eventually
from webhook_receiver import Receiver

pytestmark = pytest.mark.browser
CONFIG = {"webhooks": {"allowed_networks": ["127.0.0.0/8"]}}
PATH = "/api/v1/webhooks"
ALERTING = """\
from determined import core
with core.init() as ctx:
    ctx.alert("told by a script", level="error")
"""
DONE = {"triggerType": "TRIGGER_TYPE_EXPERIMENT_STATE_CHANGE", "condition": {"state": "COMPLETED"}}


@pytest.fixture
def client(site: Cluster) -> Client:
    return Client(site.url, "admin")


@pytest.fixture
def signed_in(page: Page, context: BrowserContext, site: Cluster) -> Page:
    """The page of an administrator: webhooks of the whole cluster are theirs."""
    sign_in(context, site.url, "admin")
    return page


@pytest.fixture(autouse=True)
def no_webhooks(client: Client) -> None:
    for webhook in client.get(PATH)["webhooks"]:
        client.call("DELETE", f"{PATH}/{webhook['id']}")


def create(client: Client, url: str, **more: Any) -> int:
    made: int = client.post(PATH, {"url": url, "triggers": [DONE], **more})["webhook"]["id"]
    return made


def end_experiment(client: Client, directory: Path, script: str = "", **config: Any) -> int:
    made = submit(client, directory, script, **config)
    client.wait_state(made, "COMPLETED")
    return made


def deliveries(client: Client, webhook: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(f"{PATH}/{webhook}/deliveries")["deliveries"]
    return found


def test_a_webhook_is_created_by_keyboard_with_triggers_of_every_kind(signed_in: Page, client: Client) -> None:
    lab = client.post("/api/v1/workspaces", {"name": "lab"})["workspace"]["id"]
    signed_in.goto("/det/webhooks")
    expect(signed_in.get_by_text("No webhooks yet")).to_be_visible()
    signed_in.goto(f"/det/webhooks/create?workspace={lab}")
    expect(signed_in.get_by_role("button", name="Create")).to_be_disabled()
    signed_in.get_by_label("Address", exact=True).fill("https://example.com/hook")
    signed_in.get_by_label("Name").fill("every kind")
    signed_in.get_by_label("Sends").select_option("slack")
    signed_in.get_by_label("State").select_option("ERROR")
    _add(signed_in, 2, "log").get_by_label("Pattern").fill("CUDA out of memory")
    metric = _add(signed_in, 3, "metric")
    metric.get_by_label("Metric").fill("accuracy")
    metric.get_by_label("Group").fill("mine")
    metric.get_by_label("Is").select_option(">=")
    metric.get_by_label("Limit").fill("0.9")
    _add(signed_in, 4, "silence").get_by_label("Minutes without a metric").fill("45")
    _add(signed_in, 5, "alert")
    expect(signed_in.get_by_label("Called for")).to_have_value("named")
    assert_accessible(signed_in)
    _add(signed_in, 6, "log")
    signed_in.get_by_role("button", name="Remove trigger 6").click()
    expect(_trigger(signed_in, 5).get_by_label("When (5)")).to_be_focused()
    signed_in.get_by_label("Name").press("Enter")
    expect(signed_in.get_by_role("heading", level=1, name="every kind")).to_be_visible()
    (made,) = client.get(PATH)["webhooks"]
    assert (made["name"], made["url"], made["workspaceId"]) == ("every kind", "https://example.com/hook", lab)
    assert (made["webhookType"], made["mode"]) == ("WEBHOOK_TYPE_SLACK", "WEBHOOK_MODE_SPECIFIC")
    assert [trigger["condition"] for trigger in made["triggers"]] == [
        {"state": "ERROR"},
        {"regex": "CUDA out of memory"},
        {"metric": "accuracy", "group": "mine", "operator": ">=", "value": 0.9},
        {"no_report_for": "45m"},
        {},
    ]
    signed_in.goto("/det/webhooks")
    row = _row(signed_in, "every kind")
    expect(row).to_contain_text("An experiment becomes ERROR")
    expect(row).to_contain_text("Metric accuracy of group mine >= 0.9")
    expect(row).to_contain_text("and 2 more triggers")
    expect(row).to_contain_text("none yet")
    expect(row.get_by_role("cell", name="lab", exact=True)).to_be_visible()
    assert_accessible(signed_in)


def test_a_refusal_of_the_master_stands_at_its_field(signed_in: Page, watch: Watch) -> None:
    watch.allow("status of 400")
    signed_in.goto("/det/webhooks/create")
    signed_in.get_by_label("Address", exact=True).fill("example.com")
    _trigger(signed_in, 1).get_by_label("When (1)").select_option("log")
    create_it = signed_in.get_by_role("button", name="Create")
    create_it.click()
    address = signed_in.get_by_label("Address", exact=True)
    expect(address).to_have_accessible_description(re.compile("does not begin with http://HOST or https://HOST"))
    expect(address).to_be_focused()
    address.fill("https://example.com")
    expect(signed_in.get_by_role("main").get_by_role("alert")).to_have_count(0)
    _trigger(signed_in, 1).get_by_label("Pattern").fill("(")
    second = _add(signed_in, 2, "metric").get_by_label("Limit")
    create_it.click()
    expect(_trigger(signed_in, 1).get_by_label("Pattern")).to_have_accessible_description(re.compile("invalid regex"))
    _trigger(signed_in, 1).get_by_label("Pattern").fill("boom")
    second.fill("low")
    create_it.click()
    expect(second).to_have_accessible_description(re.compile("'low' is no finite number"))
    assert_accessible(signed_in)
    _trigger(signed_in, 2).get_by_label("When (2)").select_option("silence")
    silence = _trigger(signed_in, 2).get_by_label("Minutes without a metric")
    silence.fill("0.1")
    create_it.click()
    expect(silence).to_have_accessible_description(re.compile("between 10s and 720h"))
    silence.fill("2h")
    signed_in.get_by_label("Name").fill("x" * 201)
    create_it.click()
    expect(signed_in.get_by_label("Name")).to_have_accessible_description(re.compile("200"))


def test_a_test_shows_what_the_receiver_answers(
    signed_in: Page, client: Client, receiver: Receiver, watch: Watch
) -> None:
    watch.allow("status of 400")
    webhook = create(client, f"{receiver.url}/secret", name="mine")
    receiver.respond = lambda _: (202, {}, b"taken note of")
    signed_in.goto("/det/webhooks")
    _row(signed_in, "mine").get_by_role("link").click()
    expect(signed_in).to_have_url(re.compile(f"/det/webhooks/{webhook}$"))
    send = signed_in.get_by_role("button", name="Send a test")
    send.click()
    expect(signed_in.get_by_text("The receiver answers 202")).to_be_visible()
    expect(signed_in.get_by_role("region", name="Answer of the receiver")).to_contain_text("taken note of")
    assert receiver.at("/secret")[0].json["event_data"] == {"data": "test"}
    assert_accessible(signed_in)
    receiver.respond = lambda _: (503, {}, b"not today")
    send.click()
    expect(signed_in.get_by_text(f"the receiver of webhook {webhook} answers 503: not today")).to_be_visible()
    address = signed_in.get_by_label("Address", exact=True)
    address.fill("nowhere")
    address.press("Enter")
    expect(address).to_have_accessible_description(re.compile("valid url required"))
    address.fill(f"{receiver.url}/other")
    signed_in.get_by_role("button", name="Change").click()
    expect(signed_in.get_by_text("Changed the address of mine")).to_be_visible()
    expect(signed_in.get_by_role("button", name="Change")).to_be_disabled()
    receiver.respond = lambda _: (200, {}, b"")
    send.click()
    expect(signed_in.get_by_text("The receiver answers 200")).to_be_visible()
    assert len(receiver.at("/other")) == 1


def test_deliveries_are_shown_with_their_attempts_answers_and_bodies(
    signed_in: Page, client: Client, receiver: Receiver, tmp_path: Path
) -> None:
    is_down = True
    receiver.respond = lambda _: (503, {}, b"come again") if is_down else (200, {}, b"thanks")
    webhook = create(client, receiver.url)
    experiment = end_experiment(client, tmp_path)
    signed_in.goto(f"/det/webhooks/{webhook}")
    row = signed_in.get_by_role("row").filter(has_text="State of an experiment")
    expect(row).to_contain_text("Tries again")
    expect(row).to_contain_text("503")
    (waiting,) = deliveries(client, webhook)
    row.get_by_role("button", name=f"Show delivery {waiting['id']}").click()
    expect(signed_in).to_have_url(re.compile(rf"\?delivery={waiting['id']}$"))
    dialog = signed_in.get_by_role("dialog")
    expect(dialog.get_by_role("region", name="Body of the answer")).to_contain_text("come again")
    assert_accessible(signed_in)
    is_down = False
    expect(dialog).to_contain_text("Delivered")
    expect(dialog.get_by_role("region", name="Body of the answer")).to_contain_text("thanks")
    sent = json.loads(dialog.get_by_role("region", name="What is sent").locator("pre").inner_text())
    assert sent == receiver.received[-1].json
    assert sent["event_data"]["experiment"]["id"] == experiment
    signed_in.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(signed_in).to_have_url(re.compile(rf"/webhooks/{webhook}$"))
    signed_in.get_by_label("Show", exact=True).select_option("failed")
    expect(signed_in.get_by_text("No such deliveries")).to_be_visible()
    signed_in.goto(f"/det/webhooks/{webhook}?state=delivered&delivery={waiting['id']}")
    expect(signed_in.get_by_role("dialog")).to_contain_text(waiting["eventId"])
    signed_in.goto("/det/webhooks")
    expect(_row(signed_in, f"Webhook {webhook}")).to_contain_text("Delivered")


def test_the_snippets_choose_a_webhook_and_send_an_alert(
    signed_in: Page, client: Client, receiver: Receiver, tmp_path: Path
) -> None:
    triggers = [{"triggerType": "TRIGGER_TYPE_CUSTOM", "condition": {}}]
    named = {"mode": "WEBHOOK_MODE_SPECIFIC", "triggers": triggers}
    loud = create(client, f"{receiver.url}/loud")
    for path, name in (("/named", 'no: "5" #'), ("/number", "")):
        webhook = create(client, receiver.url + path, name=name, **named)
        signed_in.goto(f"/det/webhooks/{webhook}")
        snippet = signed_in.locator("code").filter(has_text="integrations:").inner_text()
        expect(signed_in.locator("code").filter(has_text="core_context.alert(").last).to_be_visible()
        end_experiment(client, tmp_path / path.strip("/"), ALERTING, **yaml.safe_load(snippet))
        assert receiver.wait(1, path)[0].json["event_data"]["custom_data"]["title"] == "told by a script"
    receiver.wait(2, "/loud")
    signed_in.goto(f"/det/webhooks/{loud}")
    snippet = signed_in.locator("code").filter(has_text="integrations:").inner_text()
    end_experiment(client, tmp_path / "quiet", **yaml.safe_load(snippet))
    end_experiment(client, tmp_path / "last")
    receiver.wait(3, "/loud")
    eventually(lambda: all(row["finishedAt"] for row in deliveries(client, loud)))
    assert len(receiver.at("/loud")) == 3, "the experiment that excludes webhooks is not told of"


def test_a_webhook_is_found_copied_and_deleted(signed_in: Page, client: Client) -> None:
    lab = client.post("/api/v1/workspaces", {"name": "second lab"})["workspace"]["id"]
    create(client, "https://example.com/", name="of all")
    first = create(client, "https://hooks.example.org/", name="of the lab", workspaceId=lab)
    signed_in.goto("/det/webhooks")
    signed_in.get_by_label("Find a webhook").fill("HOOKS")
    expect(_row(signed_in, "of all")).to_have_count(0)
    expect(_row(signed_in, "of the lab")).to_be_visible()
    signed_in.goto(f"/det/webhooks?workspace={lab}")
    expect(_row(signed_in, "of all")).to_have_count(0)
    _row(signed_in, "of the lab").get_by_role("link").click()
    signed_in.get_by_role("button", name="Copy", exact=True).click()
    signed_in.get_by_label("Name").fill("a copy")
    signed_in.get_by_role("button", name="Create").click()
    expect(signed_in.get_by_role("heading", level=1, name="a copy")).to_be_visible()
    copy = client.get(PATH)["webhooks"][-1]
    assert (copy["url"], copy["workspaceId"]) == ("https://hooks.example.org/", lab)
    assert [trigger["condition"] for trigger in copy["triggers"]] == [{"state": "COMPLETED"}]
    signed_in.get_by_role("button", name="Delete").click()
    signed_in.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
    expect(signed_in).to_have_url(re.compile("/det/webhooks$"))
    expect(_row(signed_in, "of the lab")).to_be_visible()
    expect(_row(signed_in, "a copy")).to_have_count(0)
    assert first in [row["id"] for row in client.get(PATH)["webhooks"]]
    assert copy["id"] not in [row["id"] for row in client.get(PATH)["webhooks"]]


def test_who_may_not_change_a_webhook_reads_who_may(
    page: Page, context: BrowserContext, client: Client, site: Cluster
) -> None:
    user = {"user": {"username": "eve", "active": True, "admin": False}, "password": "Eve-pass-12"}
    client.post("/api/v1/users", user)
    everywhere = create(client, "https://example.com/secret", name="everywhere")
    sign_in(context, site.url, "eve", "Eve-pass-12")
    page.goto("/det/webhooks")
    expect(page.get_by_role("button", name="New webhook")).to_be_disabled()
    expect(page.get_by_text("Owners of a workspace and administrators create webhooks")).to_be_visible()
    expect(_row(page, "everywhere")).to_contain_text("https://example.com/...")
    _row(page, "everywhere").get_by_role("link").click()
    expect(page.get_by_text("It belongs to the whole cluster: only administrators may change it")).to_be_visible()
    for name in ("Send a test", "Change", "Delete", "Copy"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_disabled()
    expect(page.get_by_label("Address", exact=True)).to_be_disabled()
    assert_accessible(page)
    page.goto("/det/webhooks/create")
    expect(page.get_by_text("You may not create webhooks")).to_be_visible()
    eve = Client(site.url, "eve", "Eve-pass-12")
    own = eve.post("/api/v1/workspaces", {"name": "eve's"})["workspace"]["id"]
    page.goto("/det/webhooks")
    page.get_by_role("button", name="New webhook").click()
    expect(page.get_by_label("Workspace")).to_have_value(str(own))
    expect(page.get_by_role("option", name="all workspaces")).to_be_disabled()
    page.get_by_label("Address", exact=True).fill("https://example.com/eve")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", level=1, name=re.compile(r"Webhook \d+"))).to_be_visible()
    expect(page.get_by_role("button", name="Send a test")).to_be_enabled()
    assert sorted(row["id"] for row in eve.get(PATH)["webhooks"])[0] == everywhere


def test_nothing_that_a_receiver_answers_or_a_name_holds_comes_alive(
    guarded: Page, client: Client, receiver: Receiver, tmp_path: Path
) -> None:
    answer = ATTACK.replace("\x1b", "").encode()
    receiver.respond = lambda _: (200, {"Content-Type": "text/html"}, answer)
    triggers = [
        DONE,
        {"triggerType": "TRIGGER_TYPE_TASK_LOG", "condition": {"regex": TITLE}},
        {
            "triggerType": "TRIGGER_TYPE_METRIC_THRESHOLD_EXCEEDED",
            "condition": {"metric": ATTACK, "group": ATTACK, "operator": "<", "value": 1},
        },
    ]
    webhook = create(client, f"{receiver.url}/?q=%3Cscript%3E", name=TITLE, triggers=triggers)
    end_experiment(client, tmp_path, name=TITLE)
    (delivery,) = eventually(lambda: [row for row in deliveries(client, webhook) if row["finishedAt"]])
    guarded.goto("/det/webhooks")
    expect(guarded.get_by_role("link", name=MARKUP)).to_be_visible()
    assert_inert(guarded)
    guarded.goto(f"/det/webhooks/{webhook}")
    guarded.get_by_role("button", name="Send a test").click()
    expect(guarded.get_by_role("region", name="Answer of the receiver")).to_contain_text(MARKUP)
    assert_inert(guarded)
    guarded.get_by_role("button", name="Delete").click()
    expect(guarded.get_by_role("alertdialog")).to_contain_text(MARKUP)
    assert_inert(guarded)
    guarded.goto(f"/det/webhooks/{webhook}?delivery={delivery['id']}")
    expect(guarded.get_by_role("region", name="Body of the answer")).to_contain_text(MARKUP)
    expect(guarded.get_by_role("region", name="What is sent")).to_contain_text(MARKUP)
    assert_inert(guarded)
    receiver.respond = lambda _: (404, {}, answer)
    guarded.goto(f"/det/webhooks/create?from={webhook}")
    expect(guarded.get_by_label("Name")).to_have_value(TITLE)
    assert_inert(guarded)


def test_a_webhook_that_is_gone_says_so(signed_in: Page) -> None:
    signed_in.goto("/det/webhooks/999")
    expect(signed_in.get_by_text("Webhook 999 not found")).to_be_visible()
    assert_accessible(signed_in)


def _add(page: Page, number: int, kind: str) -> Locator:
    """Add a trigger by the keyboard: the new one has the focus."""
    page.get_by_role("button", name="Add a trigger").press("Enter")
    choice = _trigger(page, number).get_by_label(f"When ({number})")
    expect(choice).to_be_focused()
    choice.select_option(kind)
    return _trigger(page, number)


def _trigger(page: Page, number: int) -> Locator:
    return page.get_by_role("group", name=f"Trigger {number}")


def _row(page: Page, name: str) -> Locator:
    return page.get_by_role("row").filter(has=page.get_by_role("link", name=name, exact=True))
