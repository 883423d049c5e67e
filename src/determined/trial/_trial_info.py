"""Trial that the process of a trial class trains."""

import faulthandler

from determined._info import ClusterInfo, get_cluster_info, trial_of

_TRACE_SECONDS = 30


def trial_info() -> ClusterInfo:
    """Return the trial that this process is to train; with `debug`, dump stacks from here on.

    Raises:
        RuntimeError: this process is not of a trial.
    """
    info = trial_of(get_cluster_info())
    if info is None:
        raise RuntimeError("a trial class runs in a trial; submit it with det experiment create, or use --local --test")
    if info.trial._debug:
        faulthandler.dump_traceback_later(_TRACE_SECONDS, repeat=True)
    return info
