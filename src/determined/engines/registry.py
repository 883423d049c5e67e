"""Registry of engines. Each is a folder with modules of the same names: `config` (its section of a master config, with
its traits), `engine`, and `wiring` (how it is built). To know of an engine, only its `config` is imported."""

import functools
import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, cast

from determined.engines.base import Engine
from determined.engines.context import EngineContext, FoundPools
from determined.engines.resource_manager import ResourceManager
from determined.schema.engine_traits import EngineTraits
from determined.schema.objects import Field

# Resource managers of upstream's configs for which there is no engine yet. A master does not start with one.
NOT_IMPLEMENTED = ("kubernetes", "pbs")
DEFAULT = "agent"
TRAITS = tuple(name for name, value in vars(ResourceManager).items() if isinstance(value, bool))


class Wiring(Protocol):
    """The module `wiring` of an engine's folder."""

    def build(self, context: EngineContext[Any]) -> Engine:
        """Make the engine; nothing is started yet."""

    async def find_pools(self, manager: ResourceManager, own_dir: Path) -> FoundPools:
        """Name the pools of an engine with the trait `finds_pools`; the others have no such function."""


@functools.cache
def managers() -> Mapping[str, type[ResourceManager]]:
    """Return the sections of all engines by kind, sorted."""
    sections = [_section(file.parent.name) for file in Path(__file__).parent.glob("*/config.py")]
    return {section.kind: section for section in sorted(sections, key=lambda section: section.kind)}


def manager(kind: str) -> type[ResourceManager]:
    """Return the section of one kind; for one that is not implemented, the section without fields of an engine."""
    return managers().get(kind, ResourceManager)


def wiring(kind: str) -> Wiring:
    """Import what builds an engine, and with it the engine's code."""
    package = managers()[kind].__module__.removesuffix(".config")
    return cast(Wiring, importlib.import_module(f"{package}.wiring"))


def engine_name(kind: str, name: str | None = None) -> str:
    """Name of an engine: as its config says, else after its kind."""
    return name or manager(kind).default_name or kind


def traits(*kinds: str) -> EngineTraits:
    """Return what fields of configs may name these engines by."""
    every = {trait: _kinds_with(trait) for trait in TRAITS}
    own = {trait for trait, having in every.items() if not set(having).isdisjoint(kinds)}
    return EngineTraits(frozenset({*kinds, *own}), every)


def pool_fields() -> dict[str, Field]:
    """Return the keys that the engines add to resource pools."""
    return {key: known for section in managers().values() for key, known in section.pool_keys.schema.fields.items()}


def described() -> str:
    """Return all engines in words: "`agent` (this machine), ... or `slurm` (a Slurm cluster)"."""
    *first, last = [f"`{kind}` ({section.where})" for kind, section in managers().items()]
    return f"{', '.join(first)} or {last}"


def _kinds_with(trait: str) -> tuple[str, ...]:
    return tuple(kind for kind, section in managers().items() if getattr(section, trait))


def _section(folder: str) -> type[ResourceManager]:
    """Return the one subclass of `ResourceManager` that the folder's `config` defines."""
    module = importlib.import_module(f"{__package__}.{folder}.config")
    own = [item for item in vars(module).values() if isinstance(item, type) and item.__module__ == module.__name__]
    (section,) = [item for item in own if issubclass(item, ResourceManager)]
    return section
