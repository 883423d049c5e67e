"""Models and versions made over HTTP, for tests of the registry."""

from typing import Any
from urllib.parse import quote

MODELS = "/api/v1/models"


def model(client: Any, name: str, **fields: Any) -> dict[str, Any]:
    answer = client.post(MODELS, {"name": name, **fields})
    assert answer.status == 200, answer.raw
    made: dict[str, Any] = answer.json["model"]
    return made


def at(name: str | int, *more: str | int) -> str:
    return "/".join([MODELS, *(quote(str(part), safe="") for part in (name, *more))])


def version(client: Any, of: str | int, uuid: str, **fields: Any) -> dict[str, Any]:
    answer = client.post(at(of, "versions"), {"checkpointUuid": uuid, **fields})
    assert answer.status == 200, answer.raw
    made: dict[str, Any] = answer.json["modelVersion"]
    return made


def names(client: Any, **fields: Any) -> list[str]:
    answer = client.get(MODELS, fields=fields)
    assert answer.status == 200, answer.raw
    return [one["name"] for one in answer.json["models"]]


def refused(answer: Any, status: int, words: str) -> None:
    """Check that an answer is an error that says why."""
    assert (answer.status, words in answer.message) == (status, True), answer.raw
