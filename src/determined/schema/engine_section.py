"""`EngineSection`: settings of one engine in the configs of experiments and tasks."""

from typing import ClassVar

from determined.schema.section import Section


class EngineSection(Section):
    """The section that an engine adds to these configs, under its kind. config/engine_sections.py finds it.

    Attributes:
        meaning: A sentence for the reference page and for editors.
        joined: Lists of arguments whose layers add up.
    """

    meaning: ClassVar[str] = ""
    joined: ClassVar[tuple[str, ...]] = ()
