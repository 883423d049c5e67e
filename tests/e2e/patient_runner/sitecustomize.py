"""Runners that wait as long as a busy machine needs, where they usually go on unchecked after a second or two: for the
check before a start on several nodes, and for the stacks of a silent task. Nothing else of them is changed."""

import sys

if "determined.exec.runner" in sys.orig_argv:
    from determined.exec.runner import stacks, task_supervisor
    from determined.exec.runner.preflight import check, peers

    check._FACTS_BY, check._GATHERED_BY, check._REACHED_BY, check._OVER_BY = 60.0, 90.0, 120.0, 150.0
    check._LATE_SECONDS = 60.0
    peers._ANSWER_SECONDS = 60.0
    task_supervisor.PEER_GRACE_SECONDS = 20.0  # for a node to say what it found when another has failed of it already
    stacks._ANSWER_SECONDS, stacks._LOOK_SECONDS = 60.0, 2.0
