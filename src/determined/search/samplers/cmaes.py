"""cmaes: CMA-ES over the numeric hyperparameters, for one metric."""

from collections.abc import Iterator, Sequence

from determined._json import JsonObject
from determined.schema.node import Boolean, Integer, Number
from determined.schema.section import field
from determined.search.axes import Axis
from determined.search.evidence import Evidence, Numbers
from determined.search.sampler_config import SamplerConfig


class Cmaes(SamplerConfig):
    """Moves a normal distribution towards good points, generation by generation. Categories are drawn at random."""

    name = "cmaes"
    order = 3
    suits = "many trials over numbers; categories are drawn at random"
    libraries = ("cmaes",)
    weighs_several_metrics = False

    n_startup_trials: int | None = field(Integer(low=0), "Trials drawn at random (1).", default=None, fill=False)
    sigma0: float | None = field(Number(above=0), "First spread of the points.", default=None, fill=False)
    popsize: int | None = field(Integer(low=2), "Trials of a generation.", default=None, fill=False)
    use_separable_cma: bool | None = field(Boolean(), "Weigh each parameter alone.", default=None, fill=False)
    lr_adapt: bool | None = field(Boolean(), "Adapt the learning rate.", default=None, fill=False)

    def suggest(self, axes: Sequence[Axis], evidence: Sequence[Evidence], *, objectives: int, seed: int) -> Numbers:
        from determined.search import cmaes_model

        return cmaes_model.suggest(self.raw, axes, evidence, seed=seed)

    def population(self, axes: Sequence[Axis]) -> int:
        from determined.search import cmaes_model

        return cmaes_model.population(self.raw, axes)

    @classmethod
    def space_problems(cls, leaves: JsonObject) -> Iterator[tuple[str, str]]:
        kinds = {hparam.get("type") for hparam in leaves.values() if isinstance(hparam, dict)}
        if not kinds & {"int", "double", "log"}:
            yield "searcher.sampler", "cmaes needs a hyperparameter of type int, double or log; use tpe for categories"

    @classmethod
    def warnings(cls, searcher: JsonObject, leaves: JsonObject) -> list[str]:
        categories = sorted(name for name, hparam in leaves.items() if hparam.get("type") == "categorical")
        return [f"`hyperparameters.{name}` is drawn at random: cmaes knows no categories" for name in categories]
