"""Names and labels of other trackers: one line that no terminal takes for a command."""

from datetime import UTC, datetime

from determined.master.importing.tracked import TrackedExperiment
from determined.master.importing.tracked_rows import Place, experiment_rows
from determined.master.lifecycle.states import State

PLACE = Place("store", datetime(2026, 1, 1, tzinfo=UTC), 1, 1, 1, "default")
HOSTILE = "evil\n$(id)\r\n\x1b[31mred\x85\u2028x"


def test_a_name_or_label_with_control_characters_becomes_one_line() -> None:
    tracked = TrackedExperiment("1", HOSTILE, "p", State.COMPLETED, [], labels=[HOSTILE])
    row = experiment_rows(tracked, PLACE)[1]
    assert (row["name"], row["labels"]) == ("evil $(id) [31mred x", ["evil $(id) [31mred x"])
    assert row["config"]["name"] == row["name"]


def test_a_name_of_control_characters_alone_is_replaced() -> None:
    assert experiment_rows(TrackedExperiment("1", "\n\x1b", "p", State.COMPLETED, []), PLACE)[1]["name"] == "imported"
