"""Sections that engines add to the configs of experiments and tasks: the module `task_section` of an engine's folder.

Such a module imports `determined.schema` alone: the client half, which never loads engines, reads configs too.
"""

import functools
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from determined._json import JsonObject
from determined.config.sections import Pbs
from determined.schema.engine_section import EngineSection
from determined.schema.objects import Field
from determined.schema.section import Section

_ENGINES = Path(__file__).parents[1] / "engines"


@functools.cache
def engine_sections() -> dict[str, type[EngineSection]]:
    """Return the sections by the kind of their engine, which is the name of its folder, sorted."""
    folders = sorted(file.parent.name for file in _ENGINES.glob("*/task_section.py"))
    return {folder: _section(folder) for folder in folders}


def task_fields() -> dict[str, Field]:
    """Return the keys that the engines add to experiments and tasks."""
    return {
        kind: Field(section.schema, section.meaning, default={}, engines=(kind,))
        for kind, section in engine_sections().items()
    }


def default_fields(meaning: str) -> dict[str, Field]:
    """Return the same keys for `task_container_defaults`."""
    return {
        kind: Field(section.schema, meaning, default=None, fill=False, engines=(kind,))
        for kind, section in engine_sections().items()
    }


def engine_options(config: Section, kind: str) -> JsonObject:
    """Read what an experiment or task says to the engine of this kind alone."""
    section = getattr(config, kind) if kind in engine_sections() else None
    return {} if section is None else dict(section.raw)


def joined_arguments() -> Iterator[tuple[str, str]]:
    """Yield section and key of each list of arguments to which `task_container_defaults` add."""
    sections: dict[str, type[EngineSection]] = {**engine_sections(), "pbs": Pbs}
    for name, section in sections.items():
        yield from ((name, key) for key in section.joined)


def _section(folder: str) -> type[EngineSection]:
    module = import_module(f"determined.engines.{folder}.task_section")
    own = [item for item in vars(module).values() if isinstance(item, type) and item.__module__ == module.__name__]
    (section,) = [item for item in own if issubclass(item, EngineSection)]
    return section
