"""Result of mapping a row of upstream: rows of ours by table, in the order to write them, and notes."""

import uuid
from dataclasses import dataclass, field
from datetime import datetime

from determined.master.db.dialects import Values
from determined.master.importing.notes import Note


@dataclass(frozen=True, slots=True)
class Mapped:
    rows: list[tuple[str, Values]] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class MappingContext:
    """Facts that mappings need beside the row. `now` is the time of the import, the same for all of its units."""

    cluster_id: str  # of the source
    now: datetime
    workspace_of_project: dict[int, int] = field(default_factory=dict)
    default_pool: str = "default"
    project_keys: dict[str, int] = field(default_factory=dict)  # projects of this cluster by key; grows

    def made_up_id(self, noun: str, number: int) -> str:
        """Return an id for what has none in the source; the same in every run of the import."""
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.cluster_id}/{noun}/{number}"))

    def job_id(self, experiment_id: int, job_id: str | None) -> str:
        return job_id or self.made_up_id("job", experiment_id)
