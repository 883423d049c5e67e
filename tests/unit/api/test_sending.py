"""A large body on its way: counted as it leaves, and sent whole again when the master was not ready."""

import json

from small_master import serving

from determined.api import experiment
from determined.api.session import Session
from determined.wire.experiment import CreateExperimentRequest

PATH = ("POST", "/api/v1/experiments")
CREATED = {"experiment": {"id": 5, "name": "x", "state": "STATE_ACTIVE", "startTime": "2026-01-01T00:00:00Z",
                          "archived": False, "numTrials": 0, "username": "u", "jobId": "j", "projectId": 1,
                          "projectOwnerId": 1, "config": {}, "originalConfig": "", "searcherType": "single"},
           "config": {}, "warnings": []}  # fmt: skip


def test_every_byte_is_counted_and_the_body_arrives_whole() -> None:
    request = CreateExperimentRequest(config="# " + "x" * 200_000)
    sent: list[int] = []
    with serving({PATH: (200, CREATED)}) as master, Session(master.url, retries=0) as session:
        answer = experiment.create(session, request, sending=sent.append)
        body = master.asked[0][3]
    assert answer.experiment.id == 5
    assert json.loads(body)["config"] == request.config
    assert sum(sent) == len(body)
    assert len(sent) > 3, "told bit by bit"


def test_a_body_is_sent_whole_again_after_a_503() -> None:
    request = CreateExperimentRequest(config="# " + "x" * 50_000)
    with serving({PATH: (503, {"error": {"code": 14, "reason": "unavailable", "error": "starting"}})}) as master:

        def sending(_: int) -> None:
            if master.asked:  # it has refused once; the second time it is ready
                master.answers[PATH] = (200, CREATED)

        with Session(master.url, retries=3, backoff=0.01) as session:
            assert experiment.create(session, request, sending=sending).experiment.id == 5
        bodies = [body for _, _, _, body in master.asked]
    assert len(bodies) >= 2
    assert all(body == bodies[0] for body in bodies)
