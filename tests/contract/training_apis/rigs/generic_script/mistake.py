"""Tells the searcher a metric that is no number."""

import determined as det

with det.generic.init() as context:
    context.training.basic_search().complete("best")
