"""det webhook and the SDK's webhooks against a real master and a real receiver."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from determined.cli.main import main
from determined.errors import FailedPrecondition, NotFound
from determined.sdk.determined import Determined
from webhook_receiver import Receiver


@pytest.fixture
def master(start_master: Callable[..., Any], sqlite_url: str) -> Any:
    return start_master(sqlite_url, webhooks={"allowed_networks": ["127.0.0.0/8"], "signing_key": "secret"})


@pytest.fixture
def det(master: Any, client_files: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """`det("webhook", "list")`: the command as an administrator; its status and what it prints."""
    Determined(master.url, "admin", "")

    def run(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main(["-m", master.url, "-u", "admin", *words])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


def test_a_webhook_is_created_described_tested_changed_and_deleted(det: Any, receiver: Receiver) -> None:
    status, out, err = det(
        "webhook", "create", receiver.url + "/a", "--name", "mine", "--slack", "--on-state", "completed",
        "--on-log", "out of memory", "--on-metric", "validation_loss <= 0.1", "--on-metric", "train/loss > 1e3",
        "--group", "training", "--on-silence", "30m", "--on-alert",
    )  # fmt: skip
    assert (status, out) == (0, "Created webhook 1\n"), err
    row = json.loads(det("webhook", "describe", "1", "--json")[1])
    assert (row["webhookType"], row["mode"], row["name"]) == ("WEBHOOK_TYPE_SLACK", "WEBHOOK_MODE_SPECIFIC", "mine")
    assert [trigger["condition"] for trigger in row["triggers"]] == [
        {"state": "COMPLETED"},
        {"regex": "out of memory"},
        {"metric": "validation_loss", "group": "training", "operator": "<=", "value": 0.1},
        {"metric": "train/loss", "group": "training", "operator": ">", "value": 1000.0},
        {"no_report_for": "30m"},
        {},
    ]
    assert "training validation_loss <= 0.1" in det("webhook", "list")[1]
    assert "METRIC_THRESHOLD_EXCEEDED" in det("webhook", "describe", "1")[1]
    assert det("webhook", "test", "1")[:2] == (0, "Webhook 1 has answered with success\n")
    assert len(receiver.at("/a")) == 1
    assert det("webhook", "set-url", "1", receiver.url + "/b")[0] == 0
    receiver.respond = lambda _: (500, {}, b"down")
    status, _, err = det("webhook", "test", "1")
    assert status == 1 and "500" in err and len(receiver.at("/b")) == 1
    assert json.loads(det("webhook", "deliveries", "1", "--json")[1]) == []
    assert det("webhook", "deliveries", "1", "--state", "failed")[0] == 0
    assert det("webhook", "signing-key")[1] == "secret\n"
    assert det("webhook", "delete", "1")[:2] == (0, "Deleted webhook 1\n")
    assert json.loads(det("webhook", "list", "--json")[1]) == []
    status, _, err = det("webhook", "describe", "1")
    assert status == 1 and "det webhook list" in err


def test_an_address_that_the_master_does_not_call_is_warned_of_when_a_webhook_is_created(det: Any) -> None:
    for url in ("http://127.0.0.1:1/", "http://localhost:1/", "http://203.0.112.1/", "https://hooks.invalid/"):
        assert det("webhook", "create", url, "--on-state", "ERROR")[2] == "", url
    for host in ("10.0.0.1", "[fd00::1]", "169.254.169.254"):
        status, out, err = det("webhook", "create", f"http://{host}/", "--on-state", "ERROR")
        assert status == 0 and out.startswith("Created webhook ")
        assert err == (
            f"Warning: this master does not call {host.strip('[]')}; its deliveries will fail until"
            " webhooks.allowed_networks has it (docs/webhooks.md#addresses)\n"
        )


def test_the_list_has_how_the_last_delivery_went(det: Any, master: Any, tmp_path: Path) -> None:
    det("webhook", "create", "http://10.0.0.1/", "--on-state", "CANCELED")
    assert json.loads(det("webhook", "list", "--json")[1])[0].get("lastDelivery") is None
    config = tmp_path / "config.yaml"
    config.write_text(
        "name: canceled\nresources: {slots_per_trial: 0}\nentrypoint: 'true'\nsearcher: {name: single, metric: loss}\n"
        "integrations: {webhooks: {webhook_name: [mine], webhook_id: [1]}}\n"
    )
    status, _, err = det("e", "create", str(config), "--paused")
    assert status == 0 and "no webhook 'mine' here (det webhook list)" in err, err
    assert det("e", "cancel", "1")[0] == 0
    deadline = time.monotonic() + 60
    while "FAILED" not in (out := det("webhook", "list")[1]):
        assert time.monotonic() < deadline, out
        time.sleep(0.05)
    assert "Last Delivery" in out


def test_what_cannot_be_a_webhook_is_told(det: Any) -> None:
    status, _, err = det("webhook", "create", "http://h/")
    assert status == 2 and "--on-state" in err
    for condition in ("loss is low", "0.1", "< 0.1", "loss < nan", "loss <"):
        status, _, err = det("webhook", "create", "http://h/", "--on-metric", condition)
        assert status == 2 and "validation_loss < 0.1" in err, condition
    status, _, err = det("webhook", "create", "h", "--on-state", "COMPLETED")
    assert status == 1 and "valid url required" in err
    status, _, err = det("webhook", "create", "http://h/", "--on-state", "done")
    assert status == 1 and "COMPLETED" in err


def test_the_sdk_creates_tests_and_lists(master: Any, sdk: Callable[..., Determined], receiver: Receiver) -> None:
    determined = sdk("admin")
    trigger = {"type": "EXPERIMENT_STATE_CHANGE", "condition": {"state": "ERROR"}}
    webhook = determined.create_webhook(receiver.url, [trigger], name="failures", mode="SPECIFIC", workspace_id=1)
    assert (webhook.name, webhook.mode, webhook.webhook_type, webhook.workspace_id) == (
        "failures", "SPECIFIC", "DEFAULT", 1,
    )  # fmt: skip
    assert webhook.triggers == [trigger]
    webhook.test()
    assert receiver.received[0].json["event_data"] == {"data": "test"}
    assert webhook.list_deliveries() == []
    receiver.respond = lambda _: (404, {}, b"")
    with pytest.raises(FailedPrecondition, match="404"):
        webhook.test()
    webhook.set_url(receiver.url + "/x")
    webhook.reload()
    assert webhook.url == receiver.url + "/x"
    assert [one.id for one in determined.list_webhooks()] == [webhook.id]
    webhook.delete()
    with pytest.raises(NotFound):
        webhook.reload()
