"""The one line that explains a failed task."""

from determined.exec.runner.failure_explanation import explain

_TRACEBACK = """Traceback (most recent call last):
  File "train.py", line 8, in <module>
    raise RuntimeError(name)
RuntimeError: \u202egpj"""


def test_error_that_turns_the_direction_of_writing_does_not_turn_the_place_behind_it() -> None:
    explanation = explain([(text, None, 0) for text in _TRACEBACK.splitlines()], None)
    assert explanation.startswith("RuntimeError: gpj") and "train.py, line 8" in explanation


def test_output_without_a_traceback_explains_nothing() -> None:
    assert explain([("all is well", None, 0)], None) == ""
