"""The configuration reference is true: something reads each key that has an effect, and nothing the others."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from config_reads import SOURCE, all_reads, reads_of, snake, words
from determined.config import published
from determined.config.engine_sections import engine_sections
from determined.config.experiment_schema import EXPERIMENT
from determined.config.job import GenericTaskConfig, JobConfig
from determined.engines.registry import managers
from determined.master.config.file import MasterFile
from determined.schema.lists import ListOf, MapOf
from determined.schema.node import Node
from determined.schema.objects import Field, Object, Tagged

# Sections that are handed on whole, and the folder whose code spells their keys.
HANDED_ON = {
    "checkpoint_storage": "storage",
    "searcher": "search",
    "metrics": "search",
    "replace_function": "search",
    "explore_function": "search",
    **{kind: f"engines/{kind}" for kind in engine_sections()},
}
# Read as a whole by something that does not spell their names, or by another name, and where.
PASSED_ON = {
    "registry_auth.*": "goes to Docker as it is",
    "pachyderm.*": "shown as it is",
    "pachd.*": "below pachyderm",
    "proxy.*": "below pachyderm",
    "dataset.*": "below pachyderm",
    "experiment.integrations": "masked, then shown",
    "integrations.pachyderm": "masked, then shown",
    "experiment.log_policies": "selected by db/queries/log_policy.py",
    "experiment.workspace": "looked up before the config is complete",
    "experiment.project": "looked up before the config is complete",
    "task_container_defaults.log_policies": "laid under experiment configs",
    "task_container_defaults.preemption_timeout": "laid under experiment configs",
    **{f"task_container_defaults.{kind}": "laid under experiment configs" for kind in engine_sections()},
    **{
        f"{config}.{kind}": "engine_options()"
        for config in ("experiment", "task", "generic_task")
        for kind in engine_sections()
    },
    "environment_variables.*": "Variables.of(device)",
    "image.*": "Images.of(device)",
    "experiment.data": "ClusterInfo.user_data, TrialContext.get_data_config()",
    "master.telemetry": "nothing is ever sent",
    "telemetry.enabled": "nothing is ever sent, as if it were false",
}
# Read only to be shown or told: they change nothing.
SHOWN = {
    "experiment.security": "a master config has a section of that name, which is read",
    "master.feature_switches": "told to clients in GET /api/v1/master",
    "environment.pod_spec": "its pull secrets are laid under the config of a TensorBoard, where they are ignored, too",
    "profiling.begin_on_batch": "ExperimentConfig.profiling_interval() answers old trials",
    "profiling.end_after_batch": "ExperimentConfig.profiling_interval() answers old trials",
    "profiling.sync_timings": "ExperimentConfig.profiling_sync_timings() answers old trials",
}
WALKED = {
    "experiment": EXPERIMENT,
    "task": JobConfig.schema,
    "generic_task": GenericTaskConfig.schema,
    "master": MasterFile.schema,
}
# Declared, checked and published for editors; nothing of the product reads them yet, and the reference page says so.
NOT_READ_YET = {"agent": "AgentConfig|load_agent_config", "policies": "ConfigPolicies|Constraints"}
# Other names of what holds the fields of a section.
ALSO_CALLED = {
    "experiment": {"config", "declared_config", "_typed"},
    "master": {"config", "master_config"},
    "task": {"config", "config_of"},
    "generic_task": {"config", "config_of"},
    "resource_pools": {"pool", "pools", *(snake(manager.pool_keys.__name__) for manager in managers().values())},
    "task_container_defaults": {"defaults"},
}


@dataclass(frozen=True)
class Key:
    """A key, the sections that may hold it, and whether it and all above it have an effect somewhere."""

    parent: str
    name: str
    holders: frozenset[str]
    field: Field
    has_effect: bool

    @property
    def path(self) -> str:
        return f"{self.parent}.{self.name}"

    def is_in(self, known: dict[str, str]) -> bool:
        return self.path in known or f"{self.parent}.*" in known


def _keys(node: Node[object], parent: str, has_effect: bool = True) -> Iterator[Key]:
    if isinstance(node, ListOf | MapOf):
        yield from _keys(node.item, parent, has_effect)
    variants = [node] if isinstance(node, Object) else list(node.variants.values()) if isinstance(node, Tagged) else []
    for variant in variants:
        kinds = {snake(kind.__name__) for kind in variant.loads.__mro__}
        holders = frozenset({parent, parent.removesuffix("s"), *kinds, *ALSO_CALLED.get(parent, ())})
        for name, field in variant.fields.items():
            effective = has_effect and field.engines != ()
            yield Key(parent, name, holders, field, effective)
            yield from _keys(field.node, name, effective)


@pytest.fixture(scope="module")
def keys() -> list[Key]:
    every = [key for name, schema in WALKED.items() for key in _keys(schema, name)]
    return [key for key in every if not key.field.legacy]


@pytest.fixture(scope="module")
def reads() -> dict[str, set[str]]:
    """Return what reads each attribute: names of bases by attribute."""
    bases: dict[str, set[str]] = {}
    for base, attribute in all_reads():
        bases.setdefault(attribute, set()).add(base)
    return bases


def test_something_reads_every_key_that_has_an_effect(keys: list[Key], reads: dict[str, set[str]]) -> None:
    spelled = {folder: words(folder) for folder in HANDED_ON.values()}
    unread = {
        key.path
        for key in keys
        if key.has_effect
        and not key.is_in(PASSED_ON)
        and not key.holders & reads.get(key.name, set())
        and not (key.parent in HANDED_ON and key.name in spelled[HANDED_ON[key.parent]])
    }
    assert sorted(unread) == [], "declare them with engines=() or read them"


def test_nothing_reads_a_key_that_is_said_to_have_no_effect(keys: list[Key], reads: dict[str, set[str]]) -> None:
    silent = [key for key in keys if key.field.engines == () and not key.is_in(SHOWN)]
    read = {key.path: found for key in silent if (found := key.holders & reads.get(key.name, set()))}
    assert not read, "they have an effect: say on which engines"


def test_every_published_config_is_walked_or_said_not_to_be_read_yet() -> None:
    walked = {schema.loads.__name__ for schema in WALKED.values()}
    unread = {name for names in NOT_READ_YET.values() for name in names.split("|")}
    assert {path.rpartition(".")[2] for path in published.KINDS.values()} <= walked | unread


@pytest.mark.parametrize("config", NOT_READ_YET)
def test_nothing_reads_a_config_that_is_said_not_to_be_read_yet(config: str) -> None:
    """Once something does: walk its keys in `keys`, and remove the remark from scripts/make_config_reference.py."""
    reading = re.compile(rf"\b({NOT_READ_YET[config]})\b")
    files = [path for path in SOURCE.rglob("*.py") if path.parent != SOURCE / "config"]
    assert [str(path) for path in files if reading.search(path.read_text())] == []


def test_every_exception_is_of_a_key_that_exists(keys: list[Key]) -> None:
    known = {key.path for key in keys} | {f"{key.parent}.*" for key in keys}
    assert not (PASSED_ON.keys() | SHOWN.keys()) - known
    assert not HANDED_ON.keys() - {key.parent for key in keys}


@pytest.mark.parametrize(
    ("code", "read"),
    [
        ("config.resources.weight", ("resources", "weight")),
        ("def f(asked: BindMount | None): asked.read_only", ("bind_mount", "read_only")),
        ("def f(asked: Environment | TaskContainerDefaults): asked.image", ("environment", "image")),
        ("token = ctx.config.security.token\ntoken.max_lifespan_days", ("token", "max_lifespan_days")),
        ("[pool.scheduler for pool in config.pools]", ("pools", "scheduler")),
        ("Resources.load(row.config).weight", ("resources", "weight")),
        ("class Tls:\n def f(self): return self.cert", ("tls", "cert")),
        ("a, b = config.slurm, config.pbs\nb.slots_per_node", ("pbs", "slots_per_node")),
    ],
)
def test_a_read_is_found_whatever_the_variable_is_called(code: str, read: tuple[str, str]) -> None:
    assert read in reads_of(code)
