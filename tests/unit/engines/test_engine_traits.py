"""Fields of configs name engines by kind or by trait; an engine of another kind with the trait honours them too."""

from collections.abc import Iterator

import pytest

from determined.config.container_defaults import TaskContainerDefaults
from determined.config.experiment_schema import EXPERIMENT
from determined.config.job import GenericTaskConfig, JobConfig
from determined.engines import registry
from determined.engines.resource_manager import ResourceManager
from determined.master.config.file import MasterFile
from determined.schema.lists import ListOf, MapOf
from determined.schema.node import Node
from determined.schema.objects import Field, Object, Tagged
from determined.schema.unused import unused_keys, unused_remarks

CONFIG = {"environment": {"image": "x"}, "resources": {"shm_size": "4g"}}


class ToyManager(ResourceManager):
    """An engine with containers of another make."""

    kind = "toy"
    runs_containers = True


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    every = {**registry.managers(), "toy": ToyManager}
    monkeypatch.setattr(registry, "managers", lambda: every)


@pytest.mark.usefixtures("toy")
def test_every_engine_with_containers_honours_what_needs_one() -> None:
    assert list(unused_keys(EXPERIMENT, CONFIG, registry.traits("toy"))) == []
    assert list(unused_keys(EXPERIMENT, CONFIG, registry.traits("docker"))) == []
    assert len(list(unused_keys(EXPERIMENT, CONFIG, registry.traits("ray")))) == 2


@pytest.mark.usefixtures("toy")
def test_remark_names_every_engine_with_containers() -> None:
    [remark] = unused_remarks(EXPERIMENT, CONFIG, registry.traits("agent"))
    having = [kind for kind, manager in registry.managers().items() if manager.runs_containers]
    assert {"docker", "toy"} <= set(having)
    assert remark.endswith(f"tasks run as plain processes here; the {' and '.join(having)} engines honour them")


@pytest.mark.parametrize(
    "schema", [EXPERIMENT, JobConfig.schema, GenericTaskConfig.schema, TaskContainerDefaults.schema, MasterFile.schema]
)
def test_every_engine_that_a_field_names_is_a_kind_or_a_trait(schema: Node[object]) -> None:
    named = {name for field in _fields(schema) for name in field.engines or ()}
    assert named <= {*registry.managers(), *registry.TRAITS}


def _fields(node: Node[object]) -> Iterator[Field]:
    if isinstance(node, ListOf | MapOf):
        yield from _fields(node.item)
    variants = [node] if isinstance(node, Object) else list(node.variants.values()) if isinstance(node, Tagged) else []
    for variant in variants:
        for field in variant.fields.values():
            yield field
            yield from _fields(field.node)
