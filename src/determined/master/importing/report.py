"""Report of an import, for people (Markdown) and programs (JSON)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import msgspec

from determined._json import JsonObject
from determined.master.importing.clean import clean_object, clean_text
from determined.master.importing.notes import Outcome, Rule, Tally


class SurveyCounts(Protocol):
    """Counts of a survey."""

    def to_json(self) -> JsonObject: ...
    def totals(self) -> dict[str, int]: ...


@dataclass(frozen=True, slots=True)
class Report:
    source: str  # without secrets
    cluster_id: str | None  # of the source; other trackers have none
    survey: SurveyCounts
    taken: dict[str, int]  # rows of the source by step
    tally: Tally
    problems: list[str]  # what the verification found

    def to_json(self) -> JsonObject:
        return {
            "source": self.source,
            "cluster_id": self.cluster_id,
            "survey": self.survey.to_json(),
            "taken": self.taken,
            "notes": self.tally.to_json(),
            "problems": self.problems,
        }

    def to_markdown(self, rules: dict[str, Rule], *, dry_run: bool = False) -> str:
        of_cluster = [f"Cluster {self.cluster_id}.", ""] if self.cluster_id else []
        lines = [f"# {'Dry run: import' if dry_run else 'Import'} of {self.source}", "", *of_cluster, "## Taken", ""]
        lines += ["| Step | In the source | Taken |", "|---|---|---|"]
        lines += [f"| {step} | {n} | {self.taken.get(step, 0)} |" for step, n in self.survey.totals().items()]
        for outcome in Outcome:
            lines += ["", f"## {outcome.value.capitalize()}", "", *self._of(outcome, rules)]
        verified = "Nothing was written." if dry_run else "Every count and every sampled value agrees."
        lines += ["", "## Verification", "", *(self.problems or [verified]), ""]
        return "\n".join(lines)

    def write(self, directory: Path, rules: dict[str, Rule], *, dry_run: bool = False) -> list[Path]:
        """Write report.md and report.json; return their paths."""
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        text, data = directory / "report.md", directory / "report.json"
        text.write_text(clean_text(self.to_markdown(rules, dry_run=dry_run)))
        data.write_bytes(msgspec.json.format(msgspec.json.encode(clean_object(self.to_json())), indent=2) + b"\n")
        return [text, data]

    def _of(self, outcome: Outcome, rules: dict[str, Rule]) -> list[str]:
        lines = []
        for name, count in self.tally.counts.items():
            rule = rules[name]
            if rule.outcome == outcome:
                examples = "; ".join(self.tally.examples[name])
                lines.append(f"- {rule.text} {count} in all, for example: {examples}")
        return lines or ["Nothing."]
