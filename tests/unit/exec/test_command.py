"""What an entrypoint becomes: argv, a trial class in one process or in one per slot, or a shell command."""

import pytest

from determined.errors import FailedPrecondition
from determined.exec.runner.command import entrypoint_argv


def test_trial_class_runs_alone_on_one_slot_and_in_one_process_per_slot_on_more() -> None:
    for slots in (0, 1):
        assert entrypoint_argv("model_def:Cls", slots) == ["python3", "-m", "determined.exec.harness", "model_def:Cls"]
    launcher = ["python3", "-m", "determined.launch.torch_distributed", "--trial", "model_def:Cls"]
    assert entrypoint_argv("model_def:Cls", 2) == launcher


def test_list_is_argv_and_other_text_is_for_the_shell() -> None:
    assert entrypoint_argv(["a", "b c"], 4) == ["a", "b c"]
    assert entrypoint_argv("m:a.B", 4)[:2] == ["sh", "-c"]


@pytest.mark.parametrize("nothing", ["", "  ", []])
def test_no_entrypoint_is_an_error(nothing: str | list[str]) -> None:
    with pytest.raises(FailedPrecondition, match="names no entrypoint"):
        entrypoint_argv(nothing)
