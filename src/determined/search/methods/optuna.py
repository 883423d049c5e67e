"""optuna: a sampler proposes each point."""

from determined.search.counted_trials import CountedTrials
from determined.search.parameters import Concurrent, OptionalLength, Timed
from determined.search.sampler_parameters import ChosenSampler
from determined.search.searcher_config import SearcherConfig


class Optuna(CountedTrials, ChosenSampler, OptionalLength, Timed, Concurrent, SearcherConfig):
    """Has a model of the results so far propose each point.

    Trials come and go as in `random`; `sampler` chooses the model.
    """

    name = "optuna"
    order = 6
