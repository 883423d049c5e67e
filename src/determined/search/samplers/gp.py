"""gp: Optuna's Gaussian process, for few and costly trials."""

from collections.abc import Sequence

from determined.schema.node import Integer
from determined.schema.section import field
from determined.search.axes import Axis
from determined.search.evidence import Evidence, Numbers
from determined.search.sampler_config import SamplerConfig


class Gp(SamplerConfig):
    """Fits a Gaussian process to the results, with torch and scipy."""

    name = "gp"
    order = 2
    suits = "few, long trials: a Gaussian process over the 200 best; a proposal takes some tenths of a second"
    libraries = ("optuna", "scipy", "torch")
    extra = "optuna-gp"
    most_evidence = 200  # it costs the cube of them; the best ones tell it most

    n_startup_trials: int | None = field(Integer(low=1), "Trials drawn at random (10).", default=None, fill=False)

    def suggest(self, axes: Sequence[Axis], evidence: Sequence[Evidence], *, objectives: int, seed: int) -> Numbers:
        from determined.search import optuna_study

        alone = optuna_study.one_thread()
        return optuna_study.suggest(
            "GPSampler", self.raw, axes, evidence, objectives=objectives, seed=seed, within=alone
        )
