"""random: a fixed number of trials, a bounded number of them at a time."""

from determined.search.counted_trials import CountedTrials
from determined.search.parameters import Concurrent, OptionalLength
from determined.search.sampler_parameters import OptionalSampler
from determined.search.searcher_config import SearcherConfig


class Random(CountedTrials, OptionalSampler, OptionalLength, Concurrent, SearcherConfig):
    """Draws points independently, or has a sampler choose them.

    Each exit opens the next trial. A failed trial uses up its place; one with invalid hyperparameters does not.
    """

    name = "random"
    order = 2
    form_label = "Random"
    compares = False
