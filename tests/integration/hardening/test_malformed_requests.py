"""Whatever is sent, no answer is a server error and none is missing."""

import json
from typing import Any

import pytest

DEEP = b"[" * 5_000 + b"]" * 5_000
HUGE = 10**400

BODIES: dict[str, bytes] = {
    "nothing": b"",
    "not json": b"{",
    "bad utf-8": b'{"name": "\xff\xfe"}',
    "null": b"null",
    "a number": b"5",
    "a string": b'"text"',
    "a list": b"[]",
    "a list of lists": b"[[], {}]",
    "deep": DEEP,
    "a huge exponent": b'{"id": 1e999999}',
    "a lone surrogate": b'{"name": "\\ud800"}',
    "twice the same key": b'{"id": 1, "id": "x"}',
    "NaN": b'{"id": NaN}',
}

VALUES: dict[str, Any] = {
    "null": None,
    "nul": "a\x00b",
    "int64": 2**63 - 1,
    "beyond int64": 2**63,
    "beyond float": HUGE,
    "negative": -(2**63),
    "list": ["\x00", 2**63, None, {}],
    "object": {"a": {"b": [1]}},
    "long": "x" * 100_000,
    "sql": "' OR 1=1; DROP TABLE users; --",
}

QUERIES = [
    "limit=-1&offset=-5",
    "limit=-2",
    "limit=9223372036854775807&offset=9223372036854775807",
    "limit=99999999999999999999",
    "limit=1&limit=2&offset=x",
    "name=%00&users=%00&states=%00&key=%00",
    "name=%ff%fe&users=%ed%a0%80",
    "name=%&x=%zz&=&&&",
    "sortBy=id%3B%20DROP%20TABLE%20users&orderBy=x",
    "userIds=99999999999999999999&projectId=99999999999999999999",
    "userIds=9223372036854775807&projectId=-9223372036854775808&ids=9223372036854775807",
    "timestampAfter=9e99&timestampBefore=nan&searchText=%5B&enableRegex=true",
    "timestampAfter=0001-01-01T00:00:00%2B23:59&searchText=(a%2B)%2B%24&enableRegex=true",
    "trialIds=1&ids=1&metricName=%00&metricNames=%00&name=%00&group=%00&labels.name=%00",
    "trialIds=1&ids=1&metricName=loss&metricNames=loss&name=loss&labels.name=loss&batchesProcessed=3&periodSeconds=0",
    "trialIds=1&metricNames=loss&timeSeriesFilter.name=x&timeSeriesFilter.doubleRange.gt=nan",
    "trialIds=1&metricNames=loss&timeSeriesFilter.name=time&timeSeriesFilter.timeRange.gt=9e17",
    "trialIds=1&metricIds=%7B&timeSeriesFilter.name=batches&timeSeriesFilter.integerRange.incl=1e5",
    "sortByMetric=%00&sortByAttr=SORT_BY_UUID&filter=%7B",
    "name=" + "x" * 20_000,
    "challenge=zz&follow=maybe",
    "save_experiment_best=99999999999999999999&save_trial_best=9223372036854775807",
]

IDS = ["0", "-1", "9223372036854775808", "9" * 400, "%00", "%ff", "%", "..%2f..", "x" * 9_000]

# They answer when something happens; asked without a limit they hold the request, as they should.
LONG_POLLS = ("rendezvous", "all_gather", "/signals")


def _concerns(query: str, names: set[str]) -> bool:
    return any(pair.partition("=")[0] in names for pair in query.split("&"))


def _too_bad(answers: dict[str, int]) -> dict[str, int]:
    return {sent: status for sent, status in answers.items() if status >= 500}


@pytest.mark.parametrize("who", ["admin", "task"])
def test_no_body_makes_a_server_error(sqlite_world: Any, wire: Any, who: str) -> None:
    world = sqlite_world
    headers = world.admin.headers if who == "admin" else world.task_headers
    answers = {}
    for method, template in world.operations():
        if method == "GET" or template.endswith("logout"):
            continue
        for name, body in BODIES.items():
            answers[f"{method} {template} {name}"] = wire.status(method, world.path(template), body, headers)
    assert not _too_bad(answers)


def test_no_value_of_a_field_makes_a_server_error(world: Any, wire_to: Any, fields: Any) -> None:
    wire = wire_to(world)
    answers = {}
    for (method, template), names in fields(world).items():
        for kind, value in VALUES.items():
            bodies = [{name: value} for name in names] + [dict.fromkeys(names, value)]
            for body in bodies:
                sent = f"{method} {template} {list(body)[:3]} = {kind}"
                raw = json.dumps(body).encode()
                answers[sent] = wire.status(method, world.path(template), raw, world.admin.headers)
    assert not _too_bad(answers)


def test_no_query_makes_a_server_error(world: Any, wire_to: Any, parameters: Any) -> None:
    wire = wire_to(world)
    answers = {}
    for (method, template), names in parameters(world).items():
        if method != "GET" or any(word in template for word in LONG_POLLS):
            continue
        for query in (query for query in QUERIES if _concerns(query, names)):
            path = f"{world.path(template)}?{query}"
            answers[f"{template}?{query[:80]}"] = wire.status(method, path, None, world.admin.headers)
    assert not _too_bad(answers)


def test_no_id_in_a_path_makes_a_server_error(world: Any, wire_to: Any) -> None:
    wire = wire_to(world)
    answers = {}
    for method, template in world.operations():
        if any(word in template for word in LONG_POLLS) or "{" not in template:
            continue
        for value in IDS:
            path = "/".join(value if part.startswith("{") else part for part in template.split("/"))
            answers[f"{method} {template} {value[:30]}"] = wire.status(method, path, b"{}", world.admin.headers)
    assert not _too_bad(answers)


def test_an_odd_method_is_refused_everywhere(sqlite_world: Any, wire: Any) -> None:
    world = sqlite_world
    answers = {
        f"{method} {path}": wire.status(method, world.path(path), None, world.admin.headers)
        for path in sorted({template for _, template in world.operations()})
        for method in ("HEAD", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "x")
    }
    assert set(answers.values()) <= {200, 204, 400, 404, 405}, {k: v for k, v in answers.items() if v >= 406}


@pytest.mark.parametrize(
    "change",
    [
        {"mtime": "9" * 400},
        {"mtime": "9" * 18},
        {"mtime": "\u00b2"},
        {"mtime": "-1"},
        {"mode": 2**63 - 1},
        {"mode": -1},
        {"mode": 0o104755},
        {"type": 2**40},
        {"path": "x" * 5_000},
        {"path": "a/" * 2_000 + "b"},
        {"path": "\u00e9\U0001f600.py"},
        {"content": "***"},
        {"uid": 2**63 - 1, "gid": -(2**63)},
    ],
)
def test_an_odd_file_of_a_model_definition_is_refused_or_kept_readable(
    sqlite_world: Any, change: dict[str, Any]
) -> None:
    file = {"path": "f", "type": 48, "content": "cGFzcw==", "mtime": "1", "mode": 0o644, "uid": 0, "gid": 0, **change}
    config = {"name": "x", "entrypoint": "true", "searcher": {"name": "single", "metric": "loss"}}
    body = {"activate": False, "config": json.dumps(config), "modelDefinition": [file]}
    answer = sqlite_world.admin.post("/api/v1/experiments", body)
    assert answer.status in (200, 400), answer.raw
    if answer.status == 200:
        number = answer.json["experiment"]["id"]
        assert sqlite_world.admin.get(f"/api/v1/experiments/{number}/file_tree").status == 200
        got = sqlite_world.admin.post(f"/api/v1/experiments/{number}/file", {"path": file["path"]})
        assert got.json["file"] == "cGFzcw=="


@pytest.mark.parametrize(
    "config",
    [
        "a: &a [*a]",
        "x: &x [" + "*y," * 10 + "]",
        "\x00",
        "- 1",
        "name: !!python/object/apply:os.system [true]",
        "{" * 3_000,
        "a: " + "9" * 10_000,
        "name: \ud800",
        "a: &a {b: 1}\n" + "\n".join(f"k{n}: &k{n} [*a, *a]" for n in range(3)),
        "hyperparameters: {lr: .nan}\nname: 2026-13-45\nentrypoint: true\nsearcher: {name: single, metric: .inf}",
        "name: 2026-01-01\nentrypoint: 5\nsearcher: [single]\nhyperparameters: {1: 2, null: 3}",
        "max_restarts: 99999999999999999999999\nname: x\nentrypoint: x\nsearcher: {name: single, metric: x}",
        "resources: {slots_per_trial: 1.0e+400}\nname: x\nentrypoint: x\nsearcher: {name: single, metric: x}",
        "&a x: *a",
    ],
)
def test_an_odd_config_is_refused_in_words(sqlite_world: Any, config: str) -> None:
    raw = json.dumps({"activate": False, "config": config, "modelDefinition": []}).encode()
    answer = sqlite_world.admin.post("/api/v1/experiments", raw)
    assert answer.status == 400, answer.raw
    assert answer.message


def test_aliases_that_would_grow_without_bound_are_refused_quickly(sqlite_world: Any) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    body = {"activate": False, "config": "hyperparameters:\n  " + "\n  ".join(lines), "modelDefinition": []}
    answer = sqlite_world.admin.post("/api/v1/experiments", body, timeout=60)
    assert answer.status == 400, answer.raw[:300]
    assert sqlite_world.admin.get("/api/v1/me").status == 200
