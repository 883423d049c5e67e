"""Progress of every trial, summed up as it changes, so that a search of 100,000 trials knows its own in no time."""

from determined._json import JsonObject
from determined.search.method import Tally


class RunningTally:
    """Trials and the units they have reported. An invalid trial is dropped and stays so."""

    def __init__(self) -> None:
        self._units: dict[str, float] = {}
        self._closed: set[str] = set()
        self._open_units = 0.0
        self._closed_units = 0.0

    def now(self) -> Tally:
        closed = len(self._closed)
        return Tally(
            open_trials=len(self._units) - closed,
            open_units=self._open_units,
            closed_trials=closed,
            closed_units=self._closed_units,
        )

    def opened(self, request_id: str) -> None:
        self._units.setdefault(request_id, 0.0)

    def reported(self, request_id: str, units: float) -> None:
        before = self._units.get(request_id)
        if before is None or request_id in self._closed:
            return
        self._units[request_id] = units
        self._open_units += units - before

    def dropped(self, request_id: str) -> None:
        if request_id in self._units and request_id not in self._closed:
            self._open_units -= self._units.pop(request_id)

    def closed(self, request_id: str) -> None:
        if request_id not in self._units or request_id in self._closed:
            return
        self._closed.add(request_id)
        self._open_units -= self._units[request_id]
        self._closed_units += self._units[request_id]

    def snapshot(self) -> JsonObject:
        """Return the state with the sums: added up in another order they would differ in the last bits."""
        return {
            "units": dict(self._units),
            "closed": sorted(self._closed),
            "open_units": self._open_units,
            "closed_units": self._closed_units,
        }

    def restore(self, state: JsonObject) -> None:
        self._units = dict(state["units"])
        self._closed = set(state["closed"])
        self._open_units = state["open_units"]
        self._closed_units = state["closed_units"]
