"""`determined.common.api.bindings`: made lazily from the wire, with upstream's rules."""

import inspect
import json
import pickle
import subprocess
import sys
from typing import Any

import pytest

from determined.common import api
from determined.common.api import bindings
from determined.common.api._response import Response


class Recorder:
    """Session that answers what it is told and remembers what it was asked."""

    def __init__(self, *lines: Any, status: int = 200) -> None:
        self.lines, self.status = lines, status
        self.asked: dict[str, Any] = {}

    def _do_request(self, **asked: Any) -> Response:
        self.asked = asked
        return Response(_Answer(self.status, "\n".join(json.dumps(line) for line in self.lines)), "")  # type: ignore[arg-type]


class _Answer:
    reason, headers = "why", {}

    def __init__(self, status: int, text: str) -> None:
        self.status, self.data = status, text.encode()

    def stream(self, size: int) -> Any:
        yield self.data

    def close(self) -> None:
        self.closed = True


def _loaded_by(code: str) -> set[str]:
    line = f"import sys; {code}; print(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True).stdout.split())


def test_importing_the_package_loads_neither_the_wire_nor_http() -> None:
    loaded = _loaded_by("import determined.common.api, determined.common.api as a; dir(a)")
    assert not {name for name in loaded if name.split(".")[0] in ("msgspec", "urllib3", "yaml", "websockets")}
    assert not {name for name in loaded if name.startswith(("determined.wire", "determined.api"))}


def test_no_server_library_or_framework_is_needed() -> None:
    loaded = _loaded_by("from determined.common.api import bindings; dir(bindings); bindings.v1Experiment")
    assert not {"litestar", "sqlalchemy", "torch", "rich"} & loaded


def test_every_name_of_the_package_can_be_had() -> None:
    for name in api.__all__:
        assert getattr(api, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        api.nonsense  # noqa: B018


def test_what_is_not_implemented_is_said() -> None:
    with pytest.raises(AttributeError, match=r"no 'post_CreateGroup'.*official-client"):
        bindings.post_CreateGroup  # type: ignore[attr-defined]  # noqa: B018
    assert not hasattr(bindings, "v1Nonsense")


def test_a_message_keeps_apart_what_was_never_assigned_and_what_is_none() -> None:
    patch = bindings.v1PatchExperiment(id=3, notes=None)
    assert patch.name is None
    assert patch.to_json(True) == {"id": 3, "notes": None}
    assert patch.to_json()["name"] is None
    patch.name = "new"
    assert patch.to_json(True) == {"id": 3, "notes": None, "name": "new"}


def test_a_message_is_read_with_unknown_keys_and_not_without_required_ones() -> None:
    note = bindings.v1Note.from_json({"name": "n", "contents": "c", "more": 1})
    assert (note.name, note.to_json()) == ("n", {"name": "n", "contents": "c"})
    with pytest.raises(KeyError, match="contents"):
        bindings.v1Note.from_json({"name": "n"})


def test_a_wrong_argument_is_named() -> None:
    with pytest.raises(TypeError, match=r"v1Note has no field 'text'; it has contents, name"):
        bindings.v1Note(text="x")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="v1Note needs contents"):
        bindings.v1Note(name="x")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="experimentId"):
        bindings.get_GetExperiment(Recorder(), projectId=3)  # type: ignore[arg-type, call-arg]


def test_numbers_that_json_lacks_travel_as_text() -> None:
    entry = {"trialId": 1, "searcherMetric": "NaN", "endTime": ""}
    read = bindings.v1ValidationHistoryEntry.from_json(entry)
    assert read.searcherMetric != read.searcherMetric
    assert read.to_json()["searcherMetric"] == "Nan"
    read.searcherMetric = float("-inf")
    assert read.to_json()["searcherMetric"] == "-Infinity"


def test_enums_have_short_names_and_print_them() -> None:
    assert bindings.v1OrderBy.ASC.value == "ORDER_BY_ASC"
    assert str(bindings.experimentv1State.ERROR) == "ERROR"
    assert isinstance(bindings.taskv1State.RUNNING, bindings.DetEnum)


def test_messages_and_enums_can_be_pickled_and_printed() -> None:
    note = bindings.v1Note(name="n", contents="c")
    assert vars(pickle.loads(pickle.dumps(note))) == vars(note)
    assert pickle.loads(pickle.dumps(bindings.v1OrderBy.ASC)) is bindings.v1OrderBy.ASC
    assert str(note) == "v1Note(name=n, contents=c)"
    assert str(bindings.v1PutProjectNotesRequest(notes=[note], projectId=1)) == (
        "v1PutProjectNotesRequest(notes=[...], projectId=1)"
    )


def test_a_function_sends_ids_query_and_body_as_upstream_does() -> None:
    session: Any = Recorder({"experiments": [], "pagination": {}})
    states = [bindings.experimentv1State.ERROR]
    bindings.get_GetExperiments(session, archived=False, states=states, experimentIdFilter_incl=[1, 2])
    given = {key: value for key, value in session.asked["params"].items() if value is not None}
    assert given == {"archived": "false", "states": ["STATE_ERROR"], "experimentIdFilter.incl": [1, 2]}
    session = Recorder({})
    body = bindings.v1PatchExperiment(id=3, name="x")
    bindings.patch_PatchExperiment(session, body=body, experiment_id=3)
    assert (session.asked["method"], session.asked["path"]) == ("PATCH", "/api/v1/experiments/3")
    assert session.asked["json"] == {"id": 3, "name": "x"}
    bindings.put_PutExperimentLabel(Recorder({"labels": []}), experimentId=3, label="a/b")  # type: ignore[arg-type]


def test_an_empty_answer_is_none_and_an_odd_status_an_error() -> None:
    assert bindings.post_KillTrial(Recorder({}), id=1) is None  # type: ignore[arg-type, func-returns-value]
    with pytest.raises(bindings.APIHttpError, match="post_KillTrial failed: 204") as caught:
        bindings.post_KillTrial(Recorder({}, status=204), id=1)  # type: ignore[arg-type]
    assert caught.value.response.status_code == 204


def test_a_stream_yields_results_and_raises_an_error_line() -> None:
    line = {"id": "1", "level": "LOG_LEVEL_INFO", "message": "m", "timestamp": "", "trialId": 1}
    session: Any = Recorder({"result": line}, {"error": {"code": 5, "error": "gone"}})
    lines = bindings.get_TrialLogs(session, trialId=1)
    assert inspect.isgenerator(lines) and session.asked == {}, "nothing is asked before the first line is"
    assert next(lines).level is bindings.v1LogLevel.INFO
    with pytest.raises(bindings.APIHttpStreamError, match="get_TrialLogs broke off: gone") as caught:
        next(lines)
    assert (caught.value.error.message, caught.value.error.grpcCode) == ("gone", 5)


def test_pages_are_read_to_the_end() -> None:
    def page(offset: int) -> Any:
        return bindings.v1GetUsersResponse(pagination=bindings.v1Pagination(endIndex=min(offset + 2, 5), total=5))

    assert [p.pagination.endIndex for p in api.read_paginated(page)] == [2, 4, 5]
    assert len(list(api.read_paginated(page, pages=api.PageOpts.single))) == 1
    assert bindings.v1GetUsersResponse in bindings.Paginated.__args__  # type: ignore[attr-defined]
