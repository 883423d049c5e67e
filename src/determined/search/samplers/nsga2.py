"""nsga2: Optuna's genetic algorithm, for several metrics."""

from collections.abc import Sequence

from determined._json import JsonObject
from determined.schema.node import Integer, Number
from determined.schema.section import field
from determined.search.axes import Axis
from determined.search.evidence import Evidence, Numbers
from determined.search.sampler_config import POPULATION, SamplerConfig


class Nsga2(SamplerConfig):
    """Breeds each generation from the best of the one before."""

    name = "nsga2"
    order = 5
    suits = "several metrics and many trials; the first generation is drawn at random"

    population_size: int | None = field(Integer(low=2), "Trials of a generation (50).", default=None, fill=False)
    mutation_prob: float | None = field(Number(0, 1), "Chance of a mutation.", default=None, fill=False)
    crossover_prob: float | None = field(Number(0, 1), "Chance of a crossover.", default=None, fill=False)
    swapping_prob: float | None = field(Number(0, 1), "Chance to swap a parameter.", default=None, fill=False)

    def suggest(self, axes: Sequence[Axis], evidence: Sequence[Evidence], *, objectives: int, seed: int) -> Numbers:
        from determined.search import optuna_study

        return optuna_study.suggest(
            "NSGAIISampler", self.raw, axes, evidence, objectives=objectives, seed=seed, evolves=True
        )

    @classmethod
    def warnings(cls, searcher: JsonObject, leaves: JsonObject) -> list[str]:
        warnings: list[str] = []
        if len(searcher.get("metrics") or ()) < 2:
            warnings.append("`searcher.sampler: nsga2` is made for several `metrics`; tpe learns faster from one")
        population = (searcher.get("sampler_options") or {}).get("population_size") or POPULATION
        if searcher["max_trials"] <= population:
            warnings.append(
                f"nsga2 draws its first {population} trials at random, and max_trials is {searcher['max_trials']};"
                " lower sampler_options.population_size"
            )
        return warnings
