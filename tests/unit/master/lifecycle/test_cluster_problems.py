"""What an engine cannot do is in the reason for which a job waits."""

from typing import Any

from determined.master.lifecycle.cluster import Cluster


class Bridged:
    name = "ray"
    problem: str | None = "the Python of the Ray cluster lacks determined"

    def enrol(self, asked: Any) -> Any: ...

    async def exchange(self, sealed: Any) -> Any: ...

    def wake(self) -> None: ...


def reasons(engine: Any) -> dict[str, str]:
    cluster = Cluster([engine], {"default": "ray"})
    return cluster.with_problems(
        {"a": "cannot start: pool 'default' has no enabled node", "b": "waits for 1 free slot in pool 'default'"}
    )


def test_a_pool_without_nodes_names_what_keeps_the_engine_from_them() -> None:
    assert reasons(Bridged())["a"] == (
        "cannot start: pool 'default' has no enabled node: the Python of the Ray cluster lacks determined"
    )


def test_other_reasons_and_engines_without_a_problem_are_left_alone() -> None:
    engine = Bridged()
    assert reasons(engine)["b"] == "waits for 1 free slot in pool 'default'"
    engine.problem = None
    assert reasons(engine)["a"] == "cannot start: pool 'default' has no enabled node"
