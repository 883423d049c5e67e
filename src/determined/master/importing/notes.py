"""Notes of an import: what was changed, left out or is left to people, counted per rule with a few examples. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from determined._json import JsonObject
from determined.master.importing.clean import clean_text

_EXAMPLES = 5


class Outcome(StrEnum):
    CHANGED = "changed"
    LEFT_OUT = "left out"
    BY_HAND = "to do by hand"


@dataclass(frozen=True, slots=True)
class Rule:
    """Rule of an import. `text` says what it does, and what to do where somebody has to."""

    name: str
    outcome: Outcome
    text: str


@dataclass(frozen=True, slots=True)
class Note:
    rule: Rule
    example: str


@dataclass(slots=True)
class Tally:
    """Counts of how often each rule was applied, with examples. A unit of an older version has no texts of rules.

    `places`: counts by place, for rules whose verification needs to know where rows are missing.
    """

    counts: dict[str, int] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    examples: dict[str, list[str]] = field(default_factory=dict)
    places: dict[str, dict[str, int]] = field(default_factory=dict)

    def add(self, notes: Iterable[Note]) -> None:
        for note in notes:
            self.add_many(note.rule, 1, note.example)

    def add_many(self, rule: Rule, count: int, example: str, place: str | None = None) -> None:
        if count:
            entry: JsonObject = {"count": count, "text": rule.text, "examples": [clean_text(example)]}
            self.merge({rule.name: entry if place is None else {**entry, "places": {place: count}}})

    def merge(self, stored: JsonObject) -> None:
        """Add what `stored` has of an earlier unit."""
        for name, entry in stored.items():
            self.counts[name] = self.counts.get(name, 0) + int(entry["count"])
            self.texts.setdefault(name, entry.get("text", name))
            kept = self.examples.setdefault(name, [])
            kept += entry["examples"][: max(0, _EXAMPLES - len(kept))]
            for place, count in entry.get("places", {}).items():
                places = self.places.setdefault(name, {})
                places[place] = places.get(place, 0) + count

    def to_json(self) -> JsonObject:
        return {
            name: {"count": n, "text": self.texts[name], "examples": self.examples[name], **self._places(name)}
            for name, n in self.counts.items()
        }

    def _places(self, name: str) -> JsonObject:
        return {"places": self.places[name]} if name in self.places else {}


def shown(values: Sequence[int] | Sequence[str], most: int) -> str:
    """List values for people: the first `most` of them, and how many there are in all."""
    listed = ", ".join(str(value) for value in values[:most])
    return f"{listed}, ... ({len(values)} in all)" if len(values) > most else listed
