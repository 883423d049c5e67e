"""Rule that finds silent ranks from counters that only grow. Pure: counters and the time come in as arguments."""

from collections.abc import Mapping
from dataclasses import dataclass, field

# With fewer signs of life a rank has not started its loop: its silence is no alarm.
_LOOP_BEATS = 3


@dataclass(frozen=True, slots=True)
class Alarm:
    """Alarm about silence. `whole`: no rank gave a sign of life. `quiet`: (rank, seconds), longest first."""

    whole: bool
    seconds: float
    quiet: tuple[tuple[int, float], ...]


@dataclass(slots=True)
class _ProcessActivity:
    """Activity of one rank or of the whole task."""

    limit: float
    active_at: float
    count: int = 0
    beats: int = 0
    alarmed: bool = False

    def update(self, now: float, count: int) -> None:
        if count == self.count:
            return
        if self.alarmed:
            # It was only slow, and may be so again: the same pause is not worth a second alarm.
            self.limit = max(self.limit, 2 * (now - self.active_at))
        self.count, self.active_at, self.alarmed = count, now, False
        self.beats += 1

    def is_due(self, now: float) -> bool:
        return not self.alarmed and now - self.active_at >= self.limit


@dataclass(slots=True)
class HangRule:
    """Rule that raises one alarm per silence. `limit` and all times are in seconds."""

    limit: float
    began: float
    _whole: _ProcessActivity = field(init=False)
    _ranks: dict[int, _ProcessActivity] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._whole = _ProcessActivity(self.limit, self.began)

    def observe(self, now: float, ranks: Mapping[int, int], others: int) -> Alarm | None:
        """Take the present counters and return an alarm that is due.

        `ranks`: signs of life so far by rank, of those that live. `others`: signs of no particular rank.
        """
        self._whole.update(now, others + sum(ranks.values()))
        for rank, count in ranks.items():
            self._ranks.setdefault(rank, _ProcessActivity(self.limit, now)).update(now, count)
        self._ranks = {rank: self._ranks[rank] for rank in ranks}
        if self._whole.is_due(now):
            return self._alarm(now, whole=True)
        # Shortly before everything is silent one alarm about all of it is worth more than one about the first.
        others_active = now - self._whole.active_at < self.limit / 2
        if others_active and any(
            activity.is_due(now) and activity.beats >= _LOOP_BEATS for activity in self._ranks.values()
        ):
            return self._alarm(now, whole=False)
        return None

    def _alarm(self, now: float, *, whole: bool) -> Alarm:
        quiet = {
            rank: now - activity.active_at for rank, activity in self._ranks.items() if whole or activity.is_due(now)
        }
        for rank in quiet:
            self._ranks[rank].alarmed = True
        self._whole.alarmed = self._whole.alarmed or whole
        longest = tuple(sorted(quiet.items(), key=lambda item: -item[1]))
        return Alarm(whole, now - self._whole.active_at, longest)
