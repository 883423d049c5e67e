"""MLflow's tracking directory: `<experiment>/<run>/` with a file for each metric, parameter and tag.

Links are not followed: what they lead to is not of the store. The path that is named may be one.
"""

import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from determined._json import JsonObject
from determined.config import parse_yaml
from determined.errors import DeterminedError, InvalidArgument
from determined.master.importing.clean import clean_text
from determined.master.importing.sources.mlflow.stored import Point, StoredExperiment, StoredRun

_STATUSES = {1: "RUNNING", 2: "SCHEDULED", 3: "FINISHED", 4: "FAILED", 5: "KILLED"}
_MODELS = "models"
_MAX_TEXT = 1024 * 1024  # bytes of a parameter, tag or description that are read


class Directory:
    def __init__(self, source: str) -> None:
        path = Path(source)
        inner = path / "mlruns"
        if not any(path.glob("*/meta.yaml")) and not inner.is_symlink() and any(inner.glob("*/meta.yaml")):
            path = inner
        self._path = path
        self.address = clean_text(str(path.resolve()))

    def experiments(self) -> Iterator[StoredExperiment]:
        """Yield the experiments that are not deleted. Raises InvalidArgument."""
        places = [place for place in _folders(self._path) if place.name != _MODELS and _is_file(place / "meta.yaml")]
        if not places:
            raise InvalidArgument(
                f"--source {str(self._path)!r} has no <experiment>/meta.yaml; name the directory `mlruns` that MLflow "
                "wrote, or the URL of its database: sqlite:///mlflow.db"
            )
        for place in places:
            experiment = StoredExperiment(place.name, place.name)
            meta = _meta(place, experiment.damage)
            experiment.name = _text(meta.get("name", place.name))
            if meta.get("lifecycle_stage", "active") == "active":
                self._fill(experiment, place)
                yield experiment

    def registered_models(self) -> list[str]:
        models = self._path / _MODELS
        if models.is_symlink():
            return []
        return [place.name for place in _folders(models) if _is_file(place / "meta.yaml")]

    def _fill(self, experiment: StoredExperiment, place: Path) -> None:
        for folder in _folders(place):
            if not _is_file(folder / "meta.yaml"):
                continue
            meta = _meta(folder, experiment.damage)
            run_id = _text(meta.get("run_id") or meta.get("run_uuid"))
            if not run_id:
                continue  # traces and logged models have such files as well
            if meta.get("lifecycle_stage", "active") != "active":
                experiment.deleted_runs += 1
                continue
            experiment.runs.append(_run(run_id, meta, folder, experiment.damage))
        experiment.runs.sort(key=lambda run: (run.start or 0, run.id))


def _run(run_id: str, meta: JsonObject, folder: Path, damage: list[str]) -> StoredRun:
    status = meta.get("status")
    metrics = folder / "metrics"
    damage += [
        f"run {run_id}, metric {name}: {line[:80]!r}" for name, line in _lines(metrics) if not _point(name, line)
    ]
    return StoredRun(
        id=run_id,
        name=_text(meta.get("run_name") or meta.get("name")),
        status=_STATUSES.get(status, "") if isinstance(status, int) else _text(status),
        start=_whole(meta.get("start_time")),
        end=_whole(meta.get("end_time")),
        artifact_uri=_text(meta.get("artifact_uri")),
        user=_text(meta.get("user_id")),
        params=dict(_texts(folder / "params")),
        tags=dict(_texts(folder / "tags")),
        metric_names={str(path.relative_to(metrics)) for path in _files(metrics)},
        points=partial(_points, metrics),
    )


def _points(metrics: Path) -> Iterator[Point]:
    return (point for name, line in _lines(metrics) if (point := _point(name, line)) is not None)


def _lines(metrics: Path) -> Iterator[tuple[str, str]]:
    """Yield the lines of all metrics that are not empty, with the name of the metric."""
    for path in _files(metrics):
        with path.open(encoding="utf-8", errors="replace") as lines:
            yield from ((str(path.relative_to(metrics)), line.strip()) for line in lines if line.strip())


def _point(name: str, line: str) -> Point | None:
    """Read `milliseconds value step`; the oldest versions wrote no step, and newer ones write more."""
    words = line.split()
    try:
        value = float(words[1])
        return Point(name, int(words[0]), value, int(words[2]) if len(words) > 2 else 0)
    except (ValueError, IndexError):
        return None


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    for path in _files(folder):
        with path.open("rb") as file:
            yield str(path.relative_to(folder)), file.read(_MAX_TEXT).decode(errors="replace")


def _meta(folder: Path, damage: list[str]) -> JsonObject:
    path = folder / "meta.yaml"
    try:
        with path.open("rb") as file:
            meta = parse_yaml(file.read(_MAX_TEXT).decode())
    except (OSError, ValueError, DeterminedError) as e:
        damage.append(f"{folder.name}/meta.yaml: {e}")
        return {}
    return meta if isinstance(meta, dict) else {}


def _folders(path: Path) -> list[Path]:
    return sorted(place for place in path.glob("*") if place.is_dir() and not place.is_symlink())


def _files(path: Path) -> list[Path]:
    """Return the files below a directory of a run; none where a link stands in its place."""
    return [] if path.is_symlink() else sorted(place for place in path.rglob("*") if _is_file(place))


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _text(value: object) -> str:
    """Return a value of YAML as text; "" for none, and for a number that is too long to be written."""
    try:
        return "" if value is None else str(value)
    except ValueError:
        return ""


def _whole(value: object) -> int | None:
    if isinstance(value, int):  # of any size, which no float may be
        return int(value)
    return int(value) if isinstance(value, float) and math.isfinite(value) else None
