"""The round-robin scheduler of older clusters: one request per job in turn, nobody preempted."""

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence

from determined.engines.scheduling.fitting import Cluster
from determined.engines.scheduling.model import Decision, NodeView, Request, Settings
from determined.engines.scheduling.wait_reasons import WaitReasons


def decide(requests: Iterable[Request], nodes: Sequence[NodeView], settings: Settings) -> Decision:
    """Decide what to start: a job leaves the round when its oldest request does not fit."""
    cluster = Cluster(nodes, settings)
    queues = _queues(requests)
    decision = Decision()
    turn = deque(queues)
    while turn:
        queue = turn.popleft()
        placement = cluster.fit(queue[0])
        if placement is None:
            continue
        cluster.take(placement)
        decision.start.append((queue.popleft().allocation_id, list(placement)))
        if queue:
            turn.append(queue)
    _explain(decision, queues, WaitReasons(cluster, settings))
    return decision


def _queues(requests: Iterable[Request]) -> list[deque[Request]]:
    """Return each job's pending requests, jobs with the fewest running slots first, then the oldest."""
    running: defaultdict[str, int] = defaultdict(int)
    pending: defaultdict[str, list[Request]] = defaultdict(list)
    for request in requests:
        if request.placement is None:
            pending[request.job_id].append(request)
        else:
            running[request.job_id] += request.slots
    jobs = sorted(pending, key=lambda job: (running[job], pending[job][0].job_submitted, job))
    return [deque(sorted(pending[job], key=lambda r: (r.requested_at, r.allocation_id))) for job in jobs]


def _explain(decision: Decision, queues: list[deque[Request]], texts: WaitReasons) -> None:
    for queue in queues:
        for place, request in enumerate(queue):
            text = texts.no_room(request) if place == 0 else texts.behind_own_job()
            decision.reasons[request.allocation_id] = text
