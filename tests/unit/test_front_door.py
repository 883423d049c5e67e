"""`import determined as det`: light, complete, and the same from release to release."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import determined as det

NAMES = [
    "Categorical", "ClusterInfo", "Constant", "Double", "EnvContext", "ExperimentConfig", "Integer", "InvalidHP",
    "LOG_FORMAT", "LegacyTrial", "Log", "RendezvousInfo", "ResourcesInfo", "Trial", "TrialContext", "TrialInfo",
    "__version__", "core", "errors", "generic", "get_cluster_info", "import_from_path", "util",
]  # fmt: skip
CORE_NAMES = [
    "BackgroundSave",
    "CheckpointContext", "Context", "DistributedContext", "DownloadMode", "DummyCheckpointContext",
    "DummyDistributedContext", "DummyExperimentalCoreContext", "DummyPreemptContext", "DummyProfilerContext",
    "DummySearcherContext", "DummySearcherOperation", "DummyTrainContext", "EarlyExitReason",
    "ExperimentalCoreContext", "PreemptContext", "PreemptMode", "ProfilerContext", "SearcherContext",
    "SearcherContextMissing", "SearcherMode", "SearcherOperation", "TensorboardMode", "TrainContext", "Unit", "init",
]  # fmt: skip
STORAGE_NAMES = [
    "AzureStorageManager", "CloudStorageManager", "DirectoryStorageManager", "GCSStorageManager", "Paths",
    "S3StorageManager", "Selector", "SharedFSStorageManager", "StorageManager", "as_config", "build", "from_string",
    "normalize_prefix", "probe", "validate_config", "validate_manager",
]  # fmt: skip


def test_the_public_names_are_these() -> None:
    from determined import storage

    assert sorted(det.__all__) == NAMES
    assert det.core.__all__ == CORE_NAMES
    assert sorted(storage.__all__) == STORAGE_NAMES
    for module in (det, det.core, storage):
        for name in module.__all__:
            assert getattr(module, name) is not None


def _in_a_fresh_process(code: str) -> Any:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_importing_determined_loads_no_third_party_library() -> None:
    loaded = _in_a_fresh_process(
        "import sys; before = set(sys.modules); import determined, json;"
        "print(json.dumps(sorted({m.split('.')[0] for m in set(sys.modules) - before})))"
    )
    third_party = set(loaded) - set(sys.stdlib_module_names) - {"determined"}
    assert third_party == set()


def test_importing_the_client_loads_no_third_party_library_until_it_is_used() -> None:
    before, after = _in_a_fresh_process(
        "import sys, json; from determined.experimental import client;"
        "before = sorted(sys.modules); client.create_experiment; print(json.dumps([before, sorted(sys.modules)]))"
    )
    third_party = {name.split(".")[0] for name in before} - {*sys.stdlib_module_names, "determined"}
    assert not third_party & {"msgspec", "urllib3", "yaml"}
    assert {"msgspec", "urllib3"} <= set(after)


def test_core_loads_no_http_client_store_driver_or_framework() -> None:
    loaded = _in_a_fresh_process(
        "import sys, json, determined as det; det.core; print(json.dumps(sorted(sys.modules)))"
    )
    heavy = {"urllib3", "fsspec", "psutil", "numpy", "torch", "sqlalchemy", "litestar", "yaml", "rich"}
    assert heavy & set(loaded) == set()


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        det.nonsense  # noqa: B018
    assert "core" in dir(det)


def test_the_log_format_is_the_one_the_shipper_reads() -> None:
    assert det.LOG_FORMAT == "%(levelname)s: [%(process)s] %(name)s: %(message)s"


def test_invalid_hp_takes_text_only() -> None:
    assert det.InvalidHP("why").msg == "why"
    assert det.InvalidHP().msg == "..."
    with pytest.raises(TypeError):
        det.InvalidHP(3)  # type: ignore[arg-type]


def test_hyperparameter_words_of_the_old_days() -> None:
    assert det.Constant(1) == {"type": "const", "val": 1}
    assert det.Integer(1, 2) == {"type": "int", "minval": 1, "maxval": 2}
    assert det.Double(1.0, 2.0) == {"type": "double", "minval": 1.0, "maxval": 2.0}
    assert det.Categorical([1, 2]) == {"type": "categorical", "vals": [1, 2]}
    assert det.Log(-4, -2) == {"type": "log", "minval": -4, "maxval": -2, "base": 10}


def test_upstreams_storage_path_is_an_alias() -> None:
    from determined.common import storage as alias
    from determined.storage import SharedFSStorageManager, build

    assert (alias.build, alias.SharedFSStorageManager) == (build, SharedFSStorageManager)


def test_json_encode_writes_what_json_lacks_as_text() -> None:
    value = {"b": float("inf"), "a": (1, float("nan")), "c": -float("inf"), "d": b"x"}
    text = det.util.json_encode(value, sort_keys=True)
    assert text == '{"a": [1, "NaN"], "b": "Infinity", "c": "-Infinity", "d": "x"}'
    with pytest.raises(TypeError):
        det.util.json_encode(object())


def test_objects_say_themselves_what_they_are_in_json() -> None:
    class Own:
        def __json__(self) -> dict[str, int]:
            return {"own": 1}

    assert det.util.json_encode([Own()], indent=1) == '[\n {\n  "own": 1\n }\n]'


def test_import_from_path_imports_twice_from_two_places(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model_def_of_front_door.py").write_text(f"NAME = {name!r}\n")
    seen = []
    before = list(sys.path)
    for name in ("one", "two"):
        with det.import_from_path(tmp_path / name):
            import model_def_of_front_door

            seen.append(model_def_of_front_door.NAME)
            with pytest.raises(RuntimeError, match="already active"), det.import_from_path(tmp_path):
                pass
    assert seen == ["one", "two"]
    assert "model_def_of_front_door" not in sys.modules
    assert sys.path == before
    assert not list(tmp_path.rglob("__pycache__"))


def test_import_from_path_hides_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    (tmp_path / "here" / "only_here_of_front_door.py").write_text("")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.syspath_prepend("")
    with det.import_from_path(tmp_path / "there"), pytest.raises(ModuleNotFoundError):
        import only_here_of_front_door  # noqa: F401
