"""tpe: Optuna's tree-structured Parzen estimator, for one metric or several."""

from collections.abc import Sequence

from determined.schema.node import Boolean, Integer
from determined.schema.section import field
from determined.search.axes import Axis
from determined.search.evidence import Evidence, Numbers
from determined.search.sampler_config import SamplerConfig


class Tpe(SamplerConfig):
    """Models good and bad points separately, and proposes where they differ most."""

    name = "tpe"
    order = 1
    suits = "anything"

    n_startup_trials: int | None = field(Integer(low=0), "Trials drawn at random (10).", default=None, fill=False)
    n_ei_candidates: int | None = field(Integer(low=1), "Candidates to choose from (24).", default=None, fill=False)
    multivariate: bool | None = field(Boolean(), "Weigh parameters together.", default=None, fill=False)
    constant_liar: bool | None = field(Boolean(), "Count running trials as bad ones (true).", default=None, fill=False)

    def suggest(self, axes: Sequence[Axis], evidence: Sequence[Evidence], *, objectives: int, seed: int) -> Numbers:
        from determined.search import optuna_study

        return optuna_study.suggest("TPESampler", self.raw, axes, evidence, objectives=objectives, seed=seed)
