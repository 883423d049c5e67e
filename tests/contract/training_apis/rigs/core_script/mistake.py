"""Goes on to the next operation without having completed this one."""

import determined as det

with det.core.init() as core_context:
    for _op in core_context.searcher.operations():
        pass
