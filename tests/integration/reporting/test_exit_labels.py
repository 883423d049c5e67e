"""A cause that the runner has recognised becomes the label of the trial, unless the config's policies say otherwise."""

from collections.abc import Callable
from typing import Any

import pytest
from tracked import Tracked, one

from determined.constants import HOST_OOM_LABEL
from determined.wire.report import Exit, ExitCause, LogLine

SubmitTrial = Callable[..., Tracked]
MESSAGE = "the entrypoint was ended by SIGKILL\nout of memory on the host: the kernel ended a process"


def fail(trial: Tracked, label: str = HOST_OOM_LABEL) -> None:
    trial.send(Exit(ExitCause.EXITED, 137, MESSAGE, 1.0, label), source="logs")


def label_of(client: Any, trial: Tracked) -> str | None:
    found: str | None = client.get(f"/api/v1/trials/{trial.trial_id}").json["trial"].get("logPolicyMatched")
    return found


def test_exit_labels_the_trial_over_what_earlier_lines_said(submit_trial: SubmitTrial, admin: Any) -> None:
    trial = submit_trial(max_restarts=0)
    trial.send(LogLine("uncorrectable ECC error encountered", 1.0), source="logs")
    assert label_of(admin, trial) == "ECC Error"
    fail(trial)
    assert label_of(admin, trial) == HOST_OOM_LABEL


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ({"name": HOST_OOM_LABEL}, None),
        ({"name": "no memory", "pattern": "out of memory on the host"}, "no memory"),
        ({"pattern": "out of memory on the host", "action": "cancel_retries"}, HOST_OOM_LABEL),
    ],
    ids=["switched off", "named otherwise", "without a name"],
)
def test_policies_of_the_config_come_first(
    submit_trial: SubmitTrial, admin: Any, policy: dict[str, str], expected: str | None
) -> None:
    trial = submit_trial(log_policies=[policy], max_restarts=0)
    fail(trial)
    assert label_of(admin, trial) == expected


def test_retries_are_canceled_by_a_policy_about_the_recognised_cause(submit_trial: SubmitTrial, admin: Any) -> None:
    policy = {"name": "no memory", "pattern": "out of memory on the host", "action": "cancel_retries"}
    trial = submit_trial(log_policies=[policy], max_restarts=5)
    fail(trial)
    assert one(trial.master, f"SELECT state FROM trials WHERE id = {trial.trial_id}") == "ERROR"


def test_exit_without_a_recognised_cause_labels_nothing(submit_trial: SubmitTrial, admin: Any) -> None:
    trial = submit_trial(max_restarts=0)
    fail(trial, label="")
    assert label_of(admin, trial) is None
