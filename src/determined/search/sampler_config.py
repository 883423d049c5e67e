"""`SamplerConfig`: how a sampler declares itself. One file of `samplers` has one subclass of it."""

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import ClassVar

from determined._json import JsonObject
from determined.schema.section import Section
from determined.search.axes import Axis
from determined.search.evidence import Evidence, Numbers

POPULATION = 50  # Optuna's own, of samplers that evolve


class SamplerConfig(Section):
    """A sampler: its name, its traits, its options (`sampler_options`) and the question to its model.

    Options have the names that the library gives them, and absent ones are the library's to choose. What a model has
    seen is kept by `ModelSampler`, which asks it again and again.

    Attributes:
        name: The word of `searcher.sampler`.
        order: Place in tables and messages; equal ones are sorted by name.
        suits: The searches that it suits, for the guide.
        libraries: Modules that it needs.
        extra: The extra of this distribution that brings them.
        is_model: It learns; otherwise points are drawn from the seed.
        weighs_several_metrics: It takes more than one objective.
        most_evidence: Trials of which the model is told, the best ones; None: all.
    """

    name: ClassVar[str] = ""
    order: ClassVar[int] = 100
    suits: ClassVar[str] = ""
    libraries: ClassVar[tuple[str, ...]] = ("optuna",)
    extra: ClassVar[str] = "optuna"
    is_model: ClassVar[bool] = True
    weighs_several_metrics: ClassVar[bool] = True
    most_evidence: ClassVar[int | None] = None

    def suggest(self, axes: Sequence[Axis], evidence: Sequence[Evidence], *, objectives: int, seed: int) -> Numbers:
        """Ask the model for the next point, by axis name. Equal arguments, equal point.

        Raises:
            ImportError: a library is not installed; the message names the extra.
        """
        raise NotImplementedError(f"sampler {self.name!r} has no model")

    def population(self, axes: Sequence[Axis]) -> int:
        """Count the trials of a generation, for models that evolve."""
        return int(self.raw.get("population_size", POPULATION))

    @classmethod
    def missing_libraries(cls) -> list[str]:
        """List the modules that it needs and this process does not have. Imports nothing."""
        return [name for name in cls.libraries if find_spec(name) is None]

    @classmethod
    def space_problems(cls, leaves: JsonObject) -> Iterator[tuple[str, str]]:
        """Find what in the flat hyperparameters does not suit it: path below the config, reason."""
        yield from ()

    @classmethod
    def warnings(cls, searcher: JsonObject, leaves: JsonObject) -> list[str]:
        """Say what the submitter may not expect; `leaves` are the flat hyperparameters."""
        return []
