"""Experiments with `environment.python`: what is refused at submit, and running one again as it ran."""

import json
from typing import Any

import pytest

LINES = {"environment": {"python": {"requirements": ["alpha"]}}}


def _send(client: Any, config: Any, files: list[Any], **options: Any) -> Any:
    body = {"config": json.dumps(config), "modelDefinition": files, "activate": False, **options}
    return client.post("/api/v1/experiments", body)


def _asking(config: Any, **python: Any) -> Any:
    return config(environment={"python": python})


@pytest.mark.parametrize(
    ("python", "content", "reason"),
    [
        ({"requirements": "other.txt"}, b"alpha", "the context directory has no file `other.txt`"),
        ({"lock": "requirements.txt"}, b"alpha>=1\n", "`alpha>=1` in `requirements.txt` names no exact version"),
        ({"requirements": "requirements.txt"}, b"-e .\n", "`-e .` is editable"),
        ({"requirements": "requirements.txt"}, b"\xff\xfe", "is not UTF-8 text"),
        ({"requirements": ["-e ./pkg"]}, b"", "`-e ./pkg` is editable"),
    ],
)
def test_a_file_that_no_environment_can_be_made_of_is_refused(
    user: Any, config: Any, files: Any, python: Any, content: bytes, reason: str
) -> None:
    answer = _send(user, _asking(config, **python), [files("requirements.txt", content)])
    assert answer.status == 400
    assert reason in answer.message
    assert f"<config>.environment.python.{next(iter(python))}: " in answer.message


def test_a_context_without_any_file_is_refused(user: Any, config: Any) -> None:
    answer = _send(user, _asking(config, requirements="requirements.txt"), [])
    assert answer.status == 400 and "has no file `requirements.txt`" in answer.message


def test_files_in_directories_and_of_other_formats_are_taken(user: Any, config: Any, files: Any) -> None:
    sent = [files("env", directory=True), files("env/uv.lock", b"version = 1"), files("pyproject.toml", b"x")]
    alone = _send(user, _asking(config, lock="env/uv.lock"), sent)
    assert alone.status == 400 and "has no `env/pyproject.toml`, which belongs to `env/uv.lock`" in alone.message
    beside = [*sent, files("env/pyproject.toml", b"x")]
    assert _send(user, _asking(config, lock="env/uv.lock"), beside).status == 200
    assert _send(user, _asking(config, requirements="./pyproject.toml"), sent).status == 200


def test_a_config_alone_can_be_validated_without_its_files(user: Any, config: Any, files: Any) -> None:
    asked = _asking(config, requirements="requirements.txt")
    assert _send(user, asked, [], validateOnly=True).status == 200
    wrong = _send(user, asked, [files("train.py", b"")], validateOnly=True)
    assert wrong.status == 400 and "has no file" in wrong.message


def test_a_fork_finds_the_file_among_its_parents(user: Any, config: Any, files: Any) -> None:
    asked = _asking(config, requirements="requirements.txt")
    parent = _send(user, asked, [files("requirements.txt", b"alpha")]).json["experiment"]["id"]
    assert _send(user, asked, [], parentId=parent).status == 200


def test_a_reproduction_has_the_config_code_seed_and_name(user: Any, submit: Any, files: Any) -> None:
    search = {"name": "random", "metric": "m", "max_trials": 3}
    drawn_from = {"x": {"type": "double", "minval": 0, "maxval": 1}}
    code = [files("train.py", b"print(1)")]
    first = submit(user, files=code, searcher=search, hyperparameters=drawn_from)["experiment"]
    second = user.post(f"/api/v1/experiments/{first['id']}/reproduce", {"activate": False}).json["experiment"]
    assert second["id"] != first["id"]
    assert second["forkedFrom"] == first["id"]
    assert second["config"] == first["config"]
    assert second["originalConfig"] == first["originalConfig"]
    sent = [user.get(f"/api/v1/experiments/{e['id']}/model_def").json["b64Tgz"] for e in (first, second)]
    assert sent[0] == sent[1]
    drawn = [
        [t["hparams"]["x"] for t in user.get(f"/api/v1/experiments/{e['id']}/trials").json["trials"]]
        for e in (first, second)
    ]
    assert drawn[0] == drawn[1] and len(drawn[0]) == 3


def test_secrets_are_reproduced_by_those_who_may_have_them(master: Any, admin: Any, user: Any, submit: Any) -> None:
    admin.post("/api/v1/users", {"user": {"username": "eve", "admin": False, "active": True}, "password": ""})
    secret = submit(user, data={"secrets": {"token": "hidden"}})["experiment"]["id"]
    plain = submit(user)["experiment"]["id"]
    eve = master.client("eve")
    refused = eve.post(f"/api/v1/experiments/{secret}/reproduce", {"activate": False})
    assert refused.status == 403 and "holds secrets" in refused.message
    assert eve.post(f"/api/v1/experiments/{plain}/reproduce", {"activate": False}).status == 200
    assert user.post(f"/api/v1/experiments/{secret}/reproduce", {"activate": False}).status == 200


def test_an_unmanaged_experiment_cannot_be_reproduced(user: Any, submit: Any) -> None:
    made = submit(user, unmanaged=True)["experiment"]["id"]
    refused = user.post(f"/api/v1/experiments/{made}/reproduce", {})
    assert refused.status == 400 and "unmanaged" in refused.message


def test_what_does_not_exist_is_not_found(user: Any) -> None:
    assert user.post("/api/v1/experiments/99/reproduce", {}).status == 404
    assert user.get("/api/v1/experiments/99/environment_locks").status == 404
