"""Export into a bundle."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from determined._json import JsonObject
from determined._version import __version__
from determined.api import cluster, experiment
from determined.api.session import Session
from determined.bundle import layout, tables
from determined.bundle.layout import Manifest
from determined.bundle.writer import BundleWriter
from determined.cli.exporting.checkpoint_files import CheckpointCopier
from determined.cli.exporting.experiment_files import Counts, ExperimentWriter
from determined.cli.exporting.places import PlaceReader
from determined.cli.exporting.records import stored_state

_OVER = frozenset({"COMPLETED", "CANCELED", "ERROR"})


@dataclass(frozen=True, slots=True)
class Exported:
    """Result of an export. `warnings`: what somebody should know about it."""

    size: int
    counts: Counts
    warnings: list[str]

    def to_json(self) -> JsonObject:
        return {"size": self.size, "counts": asdict(self.counts), "warnings": self.warnings}


def export(
    session: Session,
    ids: list[int],
    path: Path,
    *,
    form: str | None = None,
    with_checkpoints: bool = False,
    replace: bool = False,
    progress: Callable[[float], None] = lambda _: None,
) -> Exported:
    """Write a bundle with these experiments. Raises DeterminedError, OSError."""
    form = form or tables.form_here()
    counts, warnings = Counts(), []
    places = PlaceReader(session)
    with BundleWriter(path, replace=replace) as out:
        copying = path.with_name(f".{path.name}.checkpoint")
        copier = CheckpointCopier(session, out, copying) if with_checkpoints else None
        writer = ExperimentWriter(session, out, form, path.parent, counts, copier, progress)
        for experiment_id in ids:
            row = experiment.get(session, experiment_id)
            if stored_state(row.state) not in _OVER:
                warnings.append(f"experiment {row.id} is not over: what it reports meanwhile may be missing")
            places.add(row.project_id, row.username)
            writer.write(row)
        out.add_bytes(layout.USERS, layout.document(places.users()))
        out.add_bytes(layout.PLACES, layout.document(places.places()))
        out.finish(
            Manifest(
                format=layout.FORMAT,
                version=layout.VERSION,
                cluster_id=cluster.master(session).cluster_id,
                determined=__version__,
                tables=form,
                experiments=ids,
                counts=asdict(counts),
                files=out.files,
            )
        )
    return Exported(path.stat().st_size, counts, warnings + (copier.problems if copier else []))
