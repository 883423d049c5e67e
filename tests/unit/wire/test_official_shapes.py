"""The official client can read every answer of ours, and every request that it sends is understood."""

import re
from collections.abc import Iterator
from enum import Enum
from fnmatch import fnmatch
from functools import cache
from typing import Any, get_args, get_origin

import msgspec
import pytest
from official_bindings import Call, calls, kinds, named, scalar
from struct_samples import alternatives, is_optional, operations

from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation

pytestmark = pytest.mark.official

Served = tuple[Call, Operation[Any, Any]]

# By what the client sends in a query string: the types that read it.
READ_AS = {"int": {"int", "float"}, "float": {"float"}, "bool": {"bool"}, "list": {"list"}}

# Differences that no user of the client meets, by pattern, each with its reason.
ALLOWED = {
    "post_*Allocation*.allocationId would be dropped": "the path says it",
    "post_MarkAllocationResourcesDaemon.resourcesId would be dropped": "the path says it",
    "post_Set*Priority.*Id would be dropped": "the path says it",
    "post_Launch*.data would be dropped": "no master has ever read it",
    "post_PostCheckpointMetadata.checkpoint.*": "only `metadata` changes; the path names the checkpoint",
    "get_CompareTrials[?]timeSeriesFilter.*": "read by their dotted keys (routes/metric_params.py)",
    "get_GetExperimentTrials[?]states does not take *DELET*": "no trial has such a state",
    "get_GetTrialWorkloads[?]includeBatchMetrics would be ignored": "metrics of single batches are not stored",
    "get_GetUsers[?]roleIdAssignedDirectlyToUser would be ignored": "roles are not implemented",
}


@cache
def served() -> list[Served]:
    """Pair each operation of the client with ours."""
    ours = {(one.method, re.sub(r"\{[^}]*\}", "{}", one.path)): one for one in operations()}
    return [(call, ours[call.method, call.path]) for call in calls() if (call.method, call.path) in ours]


def fields_of(kind: type[msgspec.Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    return {field.encode_name: field for field in msgspec.structs.fields(kind)}


def is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def parts(kind: Any) -> list[Any]:
    """List the structs, enums and scalars in a type: those inside of lists and mappings, too."""
    return [
        part
        for one in alternatives(kind)
        for part in (parts(get_args(one)[-1]) if get_origin(one) in (list, dict, tuple) else [one])
    ]


def shapes(kind: Any) -> set[str]:
    """List what JSON a type of ours stands for, in the words of `scalar`."""
    names = {str: "str", int: "int", float: "float", bool: "bool", list: "list", dict: "dict"}
    found = {names.get(get_origin(one) or one, "") for one in alternatives(kind)}
    return found - {""}


def answer_problems(official: str, ours: Any, at: str, above: tuple[str, ...] = ()) -> Iterator[str]:
    """Find what the client would fail to read of an answer of this type."""
    known = kinds()[official]
    if ours is Any or official in above:
        return
    if known.words:
        words = {word.value for word in ours} if isinstance(ours, type) and issubclass(ours, Enum) else {ours}
        if words - known.words:
            yield f"{at} may be {sorted(map(str, words - known.words))}, which {official} does not know"
        return
    if not is_struct(ours):
        return
    own = fields_of(ours)
    for name in sorted(known.required):
        if name not in own:
            yield f"{at}.{name} is missing"
        elif is_optional(own[name].type) and own[name].type is not Any:
            yield f"{at}.{name} may be null"
    for name in own.keys() & known.fields.keys():
        yield from field_problems(known.fields[name], own[name].type, f"{at}.{name}", (*above, official))


def field_problems(official: str, ours: Any, at: str, above: tuple[str, ...]) -> Iterator[str]:
    expected = scalar(official)
    readable = {"float": {"float", "int", "str"}}.get(expected, {expected})
    if expected and shapes(ours) - readable:
        yield f"{at} is {sorted(shapes(ours))}, the client reads {expected}"
    if named(official):
        for part in parts(ours):
            yield from answer_problems(named(official), part, at, above)


def body_problems(official: str, ours: Any, at: str) -> Iterator[str]:
    """Find what of a body of the client would be dropped or refused."""
    known = kinds()[official]
    if known.words:
        words = {word.value for word in ours} if isinstance(ours, type) and issubclass(ours, Enum) else known.words
        if known.words - words:
            yield f"{at} does not take {sorted(known.words - words)}"
        return
    if not is_struct(ours):
        return
    own = fields_of(ours)
    yield from (f"{at}.{name} would be dropped" for name in sorted(known.fields.keys() - own.keys()))
    needed = {name for name, field in own.items() if field.required}
    yield from (f"{at}.{name} is needed, but the client may leave it out" for name in sorted(needed - known.required))
    for name in own.keys() & known.fields.keys():
        if named(known.fields[name]):
            for part in parts(own[name].type):
                yield from body_problems(named(known.fields[name]), part, f"{at}.{name}")


def query_problems(call: Call, kind: type[Wire]) -> Iterator[str]:
    own = {} if kind is Nothing else fields_of(kind)
    for name, annotation in call.query.items():
        if name not in own:
            yield f"{call.name}?{name} would be ignored"
        elif named(annotation):
            for part in parts(own[name].type):
                yield from body_problems(named(annotation), part, f"{call.name}?{name}")
        elif scalar(annotation) and not shapes(own[name].type) & {*READ_AS.get(scalar(annotation), ()), "str"}:
            yield f"{call.name}?{name} is {sorted(shapes(own[name].type))}, the client sends {scalar(annotation)}"


def all_answer_problems() -> set[str]:
    pairs = [(call, one) for call, one in served() if call.response in kinds()]
    return {p for call, one in pairs for p in answer_problems(call.response, one.response, call.name)}


def all_body_problems() -> set[str]:
    pairs = [(call, one) for call, one in served() if named(call.body)]
    return {p for call, one in pairs for p in body_problems(named(call.body), one.request, call.name)}


def all_query_problems() -> set[str]:
    return {p for call, one in served() if call.method == "GET" for p in query_problems(call, one.request)}


def test_most_operations_of_the_client_are_compared() -> None:
    assert len(served()) > 150
    assert sum(call.response in kinds() for call, _ in served()) > 100
    assert sum(bool(named(call.body)) for call, _ in served()) > 50
    assert sum(bool(call.query) for call, _ in served()) > 25


def refused(problems: set[str]) -> list[str]:
    return sorted(p for p in problems if not any(fnmatch(p, pattern) for pattern in ALLOWED))


def test_every_field_that_the_client_reads_is_there_and_is_what_it_reads() -> None:
    assert refused(all_answer_problems()) == []


def test_every_field_of_a_body_of_the_client_is_taken() -> None:
    assert refused(all_body_problems()) == []


def test_every_query_parameter_of_the_client_is_read() -> None:
    assert refused(all_query_problems()) == []


def test_no_allowed_difference_is_out_of_date() -> None:
    seen = all_answer_problems() | all_body_problems() | all_query_problems()
    assert [pattern for pattern in ALLOWED if not any(fnmatch(problem, pattern) for problem in seen)] == []
