"""The searcher section of an experiment config: a union of all searchers of the registry."""

from determined._json import JsonValue
from determined.schema.objects import Tagged
from determined.search.registry import searchers
from determined.search.sampler_parameters import with_first_metric
from determined.search.searcher_config import SearcherConfig


class _SearcherNode(Tagged[SearcherConfig]):
    def fill(self, value: JsonValue) -> JsonValue:
        return super().fill(with_first_metric(value))


SEARCHER = _SearcherNode(SearcherConfig, tag="name", variants=searchers())
