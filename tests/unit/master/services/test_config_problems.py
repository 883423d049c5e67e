"""Errors of a config as problems with a path, a line and a value."""

from determined.errors import FailedPrecondition, InvalidArgument, InvalidConfig
from determined.master.services.config_problems import problems_of
from determined.schema.yaml_lines import lines_of

TEXT = "searcher:\n  name: grid\nbind_mounts:\n- host_path: 3\n"
RAW = {"searcher": {"name": "grid"}, "bind_mounts": [{"host_path": 3}]}


def test_each_violation_is_a_problem_of_its_own() -> None:
    error = InvalidConfig(
        "bad",
        [
            "<config>.bind_mounts[0].host_path: must be a string, not an integer",
            "<config>.searcher: additional property `nam` not allowed; did you mean `name`?",
            "<config>: `hyperparameters` is a required property",
        ],
    )
    found = [(p.path, p.line, p.value) for p in problems_of(error, "", RAW, lines_of(TEXT))]
    assert sorted(found, key=str) == [
        ("bind_mounts[0].host_path", 4, 3),
        ("hyperparameters", None, None),
        ("searcher.nam", 1, None),
    ]


def test_an_error_without_a_place_is_about_what_was_tried() -> None:
    [problem] = problems_of(InvalidArgument("no such pool"), "searcher.name", RAW, lines_of(TEXT))
    assert (problem.path, problem.line, problem.value) == ("searcher.name", 2, "grid")


def test_an_error_that_begins_with_a_path_is_about_that() -> None:
    error = FailedPrecondition("searcher.source_trial_id: trial 7 not found")
    assert problems_of(error, "searcher", RAW, lines_of(TEXT))[0].path == "searcher.source_trial_id"


def test_a_syntax_error_has_the_line_it_names() -> None:
    [problem] = problems_of(InvalidConfig("not valid YAML: oops at line 3, column 1"), "", {}, {})
    assert problem.line == 3
