"""Build the sampler that a searcher section names."""

from determined._json import JsonObject
from determined.search.model_sampler import ModelSampler
from determined.search.objectives import Objectives
from determined.search.registry import find_sampler, load_searcher
from determined.search.sampler import Sampler
from determined.search.sampler_config import SamplerConfig
from determined.search.searcher_config import SearcherConfig, invalid


def build_sampler(searcher: SearcherConfig, space: JsonObject) -> Sampler | None:
    """Build the model that chooses points, where the config asks for one; None: they are drawn from the seed."""
    own = searcher.build_sampler(space)
    sampler = _sampler_of(searcher)
    if own is not None or sampler is None or not sampler.is_model:
        return own
    options: JsonObject = getattr(searcher, "sampler_options", {})
    objectives = len(Objectives.of(searcher.raw).each)
    return ModelSampler(sampler.load(options), space, objectives=objectives, levels=searcher.levels())


def require_libraries(searcher: JsonObject) -> None:
    """Refuse a search whose sampler this process could not run. A running one that is replayed needs no library.

    Raises:
        InvalidConfig: a library is missing; the message names the extra that brings it.
    """
    sampler = _sampler_of(load_searcher(searcher, whole=False))
    absent = [] if sampler is None else sampler.missing_libraries()
    if sampler is not None and absent:
        raise invalid(
            "sampler",
            f"{sampler.name} needs {' and '.join(absent)}, not installed where the master runs;"
            f" run there: pip install 'redetermined[{sampler.extra}]'",
        )


def _sampler_of(searcher: SearcherConfig) -> type[SamplerConfig] | None:
    return find_sampler(getattr(searcher, "sampler", None))
