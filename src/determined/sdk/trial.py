"""Trial: logs, metrics, checkpoints of one run of training."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, Self

from determined.api import trial as api
from determined.api.session import Session
from determined.sdk.deprecation import warn_deprecated
from determined.sdk.enums import LogLevel, TrialState
from determined.sdk.metrics import TrialMetrics, iter_metrics
from determined.sdk.numbered import Numbered
from determined.sdk.trial_deprecated import DeprecatedTrialMethods
from determined.wire.base import OrderBy as WireOrderBy
from determined.wire.checkpoint import Checkpoint as WireCheckpoint
from determined.wire.checkpoint import ListCheckpoints
from determined.wire.log import LogLevel as WireLogLevel
from determined.wire.log import LogQuery
from determined.wire.trial import Trial as WireTrial

if TYPE_CHECKING:
    from determined.sdk.experiment import Experiment


class Trial(Numbered, DeprecatedTrialMethods):
    """Attributes are those of the last `reload()`; None before the first."""

    # Set by experiment.py, which knows both classes: a trial that imported its experiment would close a ring.
    _experiment_class: ClassVar["type[Experiment]"]

    _kind = "Trial"
    id: int

    def __init__(self, trial_id: int, session: Session) -> None:
        self.id = trial_id
        self._session = session
        self.experiment_id: int | None = None
        self.hparams: dict[str, Any] | None = None
        self.summary_metrics: dict[str, Any] | None = None
        self.state: TrialState | None = None

    def reload(self) -> None:
        self._load(api.get(self._session, self.id))

    def kill(self) -> None:
        api.kill(self._session, self.id)

    def get_experiment(self) -> "Experiment":
        if self.experiment_id is None:
            self.reload()
        assert self.experiment_id is not None
        experiment = self._experiment_class(self.experiment_id, self._session)
        experiment.reload()
        return experiment

    def iter_logs(
        self,
        follow: bool = False,
        *,
        head: int | None = None,
        tail: int | None = None,
        container_ids: list[str] | None = None,
        rank_ids: list[int] | None = None,
        stdtypes: list[str] | None = None,
        min_level: LogLevel | None = None,
        timestamp_before: str | float | None = None,
        timestamp_after: str | float | None = None,
        sources: list[str] | None = None,
        search_text: str | None = None,
    ) -> Iterator[str]:
        """Log lines, rendered with time, container and rank. At most one of follow, head, tail.

        Raises:
            ValueError: several of them, or a negative number of lines.
        """
        if sum([follow, head is not None, tail is not None]) > 1:
            raise ValueError("at most one of follow, head and tail may be given")
        limit = head if head is not None else tail
        if limit is not None and limit < 0:
            raise ValueError(f"the number of lines must not be negative, got {limit}")
        if limit == 0:  # which means all of them on the wire
            return
        params = LogQuery(
            follow=follow,
            limit=limit,
            order_by=WireOrderBy.DESC if tail is not None else None,
            container_ids=container_ids,
            rank_ids=rank_ids,
            stdtypes=stdtypes,
            levels=[WireLogLevel(level) for level in min_level.and_above()] if min_level else None,
            timestamp_before=rfc3339(timestamp_before),
            timestamp_after=rfc3339(timestamp_after),
            sources=sources,
            search_text=search_text,
        )
        entries = api.logs(self._session, self.id, params)
        if tail is not None:
            entries = iter(reversed(list(entries)))
        for entry in entries:
            yield entry.message

    def iter_metrics(self, group: str) -> Iterator[TrialMetrics]:
        return iter_metrics(self._session, [self.id], group)

    def _checkpoints(self, params: ListCheckpoints) -> Iterable[WireCheckpoint]:
        return api.checkpoints(self._session, self.id, params)

    @classmethod
    def _from_wire(cls, session: Session, row: WireTrial) -> "Trial":
        return cls(row.id, session)._load(row)

    def _load(self, row: WireTrial) -> Self:
        self.experiment_id, self.hparams = row.experiment_id, row.hparams
        self.summary_metrics, self.state = row.summary_metrics, TrialState(str(row.state))
        return self


class TrialReference(Trial):
    """Deprecated: Trial."""

    def __init__(self, trial_id: int, session: Session) -> None:
        warn_deprecated("TrialReference", "Trial")
        super().__init__(trial_id, session)


def rfc3339(moment: str | float | None) -> str | None:
    """Return a time as the master reads it. Numbers are seconds since the epoch; text must already be RFC 3339 in UTC.

    Raises:
        ValueError: text that does not end in Z.
    """
    if moment is None:
        return None
    if isinstance(moment, int | float):
        return datetime.fromtimestamp(moment, UTC).isoformat().replace("+00:00", "Z")
    if not moment.endswith("Z"):
        raise ValueError(f"{moment!r} is not an RFC 3339 time in UTC; write it like 2024-05-17T12:00:00Z")
    return moment
