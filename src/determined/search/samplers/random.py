"""random: no model; points are drawn from the seed of the experiment."""

from determined.search.sampler_config import SamplerConfig


class Random(SamplerConfig):
    """Draws points independently."""

    name = "random"
    order = 4
    suits = "comparison"
    libraries = ()
    is_model = False
