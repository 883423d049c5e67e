"""Webhooks of the official client, determined==0.38.1, on our master: bindings, log triggers, alerts."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from official_calls import COUNTED

from cluster import HANG_SECONDS, Client, Cluster, clean_environment, official_python, running_cluster, write_experiment
from webhook_receiver import Receiver

pytestmark = pytest.mark.official

BINDINGS = """
import json, sys
from determined.common import api
from determined.common.api import authentication, bindings
from determined.experimental import client

url, other = sys.argv[1:3]
client.login(user="admin", password="")
session = client._determined._session
made = []

def create(path, trigger, **more):
    hook = bindings.v1Webhook(
        url=url + path, webhookType=more.pop("kind", bindings.v1WebhookType.DEFAULT), name=more.pop("name", ""),
        mode=more.pop("mode", bindings.v1WebhookMode.WORKSPACE), triggers=[trigger], **more,
    )
    answer = bindings.post_PostWebhook(session, body=hook).webhook
    made.append(answer.id)
    return answer

T = bindings.v1TriggerType
log = bindings.v1Trigger(triggerType=T.TASK_LOG, condition={"regex": "assert 0 <= self.metrics_sent"})
custom = bindings.v1Trigger(triggerType=T.CUSTOM, condition=None)
specific = bindings.v1WebhookMode.SPECIFIC
workspace = bindings.post_PostWorkspace(session, body=bindings.v1PostWorkspaceRequest(name="other")).workspace.id
create("/default", log)
create("/slack", log, kind=bindings.v1WebhookType.SLACK)
create("/specific", log, name="specific", mode=specific)
create("/other", log, workspaceId=workspace)
create("/custom", custom, name="alerts", mode=specific)
listed = bindings.get_GetWebhooks(session).webhooks
assert [hook.id for hook in listed] == made, listed
assert listed[0].triggers[0].condition == {"regex": "assert 0 <= self.metrics_sent"}
assert listed[3].workspaceId == workspace and listed[0].mode == bindings.v1WebhookMode.WORKSPACE
assert bindings.post_TestWebhook(session, id=made[0]).completed
broken = bindings.v1Trigger(triggerType=T.TASK_LOG, condition={"regex": "("})
for wrong in ({"triggers": []}, {"url": "x"}, {"triggers": [broken]}):
    try:
        bindings.post_PostWebhook(session, body=bindings.v1Webhook(**{**dict(
            url=url, webhookType=bindings.v1WebhookType.DEFAULT, name="", mode=specific, triggers=[log]), **wrong}))
    except api.errors.APIException as e:
        assert e.status_code == 400, e
    else:
        raise AssertionError(wrong)
moved = create("/moved", bindings.v1Trigger(triggerType=T.EXPERIMENT_STATE_CHANGE, condition={"state": "COMPLETED"}))
bindings.patch_PatchWebhook(session, id=moved.id, body=bindings.v1PatchWebhook(url=url + "/patched"))
gone = create("/gone", log)
bindings.delete_DeleteWebhook(session, id=gone.id)
assert gone.id not in [hook.id for hook in bindings.get_GetWebhooks(session).webhooks]
print("called", *sorted(CALLED))
print("all answered")
"""

SCRIPT = """
import determined as det
with det.core.init() as context:
    print("assert 0 <= self.metrics_sent")
    print("assert 0 <= self.metrics_sent again")
    context.alert(title="hello", description="from a trial", level="debug")
"""

ALERT = """
import sys
from determined.common.api import bindings
from determined.experimental import client
client.login(user="determined", password="")
data = bindings.v1CustomWebhookEventData(title="by hand", level=bindings.v1LogLevel.ERROR)
bindings.post_PostWebhookEventData(
    client._determined._session,
    body=bindings.v1PostWebhookEventDataRequest(data=data, experimentId=int(sys.argv[1]), trialId=int(sys.argv[2])),
)
CALLED |= set(sys.argv[3:])  # by the first script
all_called("webhooks", 6)
print("all answered")
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with running_cluster(tmp_path / "cluster", config={"webhooks": {"allowed_networks": ["127.0.0.0/8"]}}) as running:
        yield running


def run(cluster: Cluster, home: Path, script: str, *words: str) -> str:
    env = clean_environment(HOME=str(home), XDG_CONFIG_HOME=str(home / "config"), DET_MASTER=cluster.url)
    done = subprocess.run(
        [str(official_python()), "-W", "ignore", "-c", COUNTED + script, *words],
        capture_output=True, text=True, env=env, timeout=HANG_SECONDS, check=False,
    )  # fmt: skip
    assert "all answered" in done.stdout, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_official_client_creates_and_a_trial_reaches_its_webhooks(
    cluster: Cluster, receiver: Receiver, home: Path, tmp_path: Path
) -> None:
    called = run(cluster, home, BINDINGS, receiver.url, "x").splitlines()[0].split()[1:]
    assert receiver.at("/default")[0].json["event_data"] == {"data": "test"}
    receiver.received.clear()
    client = Client(cluster.url)
    config = write_experiment(
        tmp_path / "model", SCRIPT, {"integrations": {"webhooks": {"webhook_name": ["specific", "alerts"]}}}
    )
    experiment = client.submit(config)
    client.wait_state(experiment, "COMPLETED")
    receiver.wait(5, seconds=HANG_SECONDS)
    assert sorted(request.path for request in receiver.received) == [
        "/custom", "/default", "/patched", "/slack", "/specific",
    ]  # fmt: skip
    (alert,) = receiver.at("/custom")
    assert alert.json["event_data"]["custom_data"] == {
        "title": "hello",
        "description": "from a trial",
        "level": "DEBUG",
    }
    assert alert.json["event_data"]["experiment"]["id"] == experiment
    assert (
        receiver.at("/default")[0].json["event_data"]["task_log"]["triggering_log"] == "assert 0 <= self.metrics_sent"
    )
    assert json.loads(receiver.at("/patched")[0].body)["condition"] == {"state": "COMPLETED"}
    run(cluster, home, ALERT, str(experiment), str(client.trials(experiment)[0]["id"]), *called)
    assert receiver.wait(2, "/custom")[1].json["event_data"]["custom_data"]["level"] == "ERROR"
