"""Names of the jobs that hold slots, behind the reason why another one waits."""

from dataclasses import dataclass

import pytest

from determined.master.lifecycle.slot_holders import holders


@dataclass
class _Allocation:
    id: str
    job_id: str
    job_type: str
    task_id: str
    experiment_id: int | None = None
    experiment_name: str | None = None
    description: str | None = None


@dataclass
class _Runner:
    allocation_id: str
    node_id: str
    slot_ids: list[int]


NOTEBOOK = _Allocation("n.1", "jn", "NOTEBOOK", "n", description="JupyterLab (a)")


def _trials(number: int) -> list[_Allocation]:
    return [_Allocation(f"t{i}.1", f"j{i}", "EXPERIMENT", f"t{i}", i, f"mnist-{i}") for i in range(number)]


def test_only_slot_of_a_machine_names_the_one_that_holds_it() -> None:
    assert holders([NOTEBOOK], [_Runner("n.1", "a", [0])], {"a"}, 1) == (  # type: ignore[list-item]
        "the only slot is held by notebook n 'JupyterLab (a)'"
    )


def test_slots_of_one_job_are_counted_together_and_the_largest_comes_first() -> None:
    search = [_Allocation(f"t{i}.1", "js", "EXPERIMENT", f"t{i}", 7, "mnist") for i in range(2)]
    held = [_Runner("n.1", "a", [0]), _Runner("t0.1", "a", [1]), _Runner("t1.1", "b", [0])]
    text = holders([NOTEBOOK, *search], held, {"a", "b"}, 3)  # type: ignore[list-item,arg-type]
    assert text == "held by experiment 7 'mnist' (2 slots), notebook n 'JupyterLab (a)' (1 slot)"


def test_many_holders_are_counted_after_the_third() -> None:
    live = _trials(5)
    held = [_Runner(one.id, "a", [place]) for place, one in enumerate(live)]
    text = holders(live, held, {"a"}, 8)  # type: ignore[arg-type]
    assert text is not None and text.count("experiment") == 3 and text.endswith(" and 2 more")


@pytest.mark.parametrize("runner", [_Runner("n.1", "a", []), _Runner("n.1", "elsewhere", [0]), _Runner("x", "a", [0])])
def test_nobody_is_named_who_holds_no_slot_of_these_nodes(runner: _Runner) -> None:
    assert holders([NOTEBOOK], [runner], {"a"}, 1) is None  # type: ignore[list-item]
