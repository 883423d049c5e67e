"""When a notebook counts as idle, and who is told."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from served_program import TASK_ID
from task_around import FakeMaster

from determined.errors import Unavailable
from determined.exec.notebook.idle import IdleReporter, IdleRule
from determined.exec.service_link import ServiceLink
from determined.wire.codec import to_json
from determined.wire.report import LaunchFile

NOTHING: dict[str, Any] = {"api/kernels": [], "api/terminals": [], "api/sessions": []}


def _answers(**changes: Any) -> Callable[[str], Any]:
    return (NOTHING | {f"api/{name}": value for name, value in changes.items()}).__getitem__


@pytest.mark.parametrize("what", ["kernels", "terminals", "sessions"])
def test_a_kernel_terminal_or_session_is_use(what: str) -> None:
    rule = IdleRule("kernels_or_terminals")
    assert rule.look(_answers())
    assert not rule.look(_answers(**{what: [{}]}))


def test_a_kernel_that_nobody_is_connected_to_is_no_use_by_connections() -> None:
    rule = IdleRule("kernel_connections")
    assert rule.look(_answers(kernels=[{"connections": 0, "execution_state": "busy"}]))
    assert not rule.look(_answers(kernels=[{"connections": 0}, {"connections": 2}]))


def test_a_busy_kernel_and_a_later_activity_are_use_by_activity() -> None:
    rule, calm = IdleRule("activity"), [{"execution_state": "idle"}]
    assert not rule.look(_answers(status={"last_activity": "1"}, kernels=calm)), "the first look compares with nothing"
    assert rule.look(_answers(status={"last_activity": "1"}, kernels=calm))
    assert not rule.look(_answers(status={"last_activity": "2"}, kernels=calm))
    assert not rule.look(_answers(status={"last_activity": "2"}, kernels=[{"execution_state": "busy"}]))


@pytest.mark.parametrize("error", [OSError("refused"), TimeoutError(), KeyError("kernels")])
def test_a_question_that_fails_counts_as_use(error: Exception) -> None:
    told: list[bool] = []

    def ask(what: str) -> Any:
        raise error

    IdleReporter(IdleRule("kernels_or_terminals"), ask, told.append).report()
    assert told == [False]


def test_a_master_that_is_away_is_complained_of_once(capsys: pytest.CaptureFixture[str]) -> None:
    def tell(is_idle: bool) -> None:
        raise Unavailable("no answer")

    reporter = IdleReporter(IdleRule("kernels_or_terminals"), _answers(), tell)
    reporter.report()
    reporter.report()
    assert capsys.readouterr().out.count("no answer") == 1


def test_the_report_goes_to_the_master_of_the_allocation_with_its_token(tmp_path: Path) -> None:
    master = FakeMaster()
    path = f"/api/v1/notebooks/{TASK_ID}/report_idle"
    master.routes["PUT", path] = {}
    launch = LaunchFile(
        master_url=master.url, token="token", allocation_id=f"{TASK_ID}.1", resource_id="r", container_id="c",
        node_id="n", rank=0, slot_ids=[],
    )  # fmt: skip
    (tmp_path / "launch.json").write_bytes(to_json(launch))
    try:
        ServiceLink(tmp_path / "launch.json").report_idle(TASK_ID, idle=True)
    finally:
        master.close()
    assert master.requests == [("PUT", path, {"notebookId": TASK_ID, "idle": True})]
    assert master.headers[0]["Grpc-Metadata-x-allocation-token"] == "Bearer token"
