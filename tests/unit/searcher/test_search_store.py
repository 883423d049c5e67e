"""Directory of a local search: readable at every moment, whatever was killed when."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from determined.errors import FailedPrecondition
from determined.searcher._store import SearchStore, read_operations

EXPERIMENT = 3


@pytest.fixture
def store(tmp_path: Path) -> SearchStore:
    return SearchStore(tmp_path)


def save(store: SearchStore, event: int) -> Path:
    with store.saving(EXPERIMENT, event, [{"event": event}]) as path:
        (path / "state").write_text(str(event))
        (path / "sub").mkdir()
        (path / "sub" / "model").write_text("x")
    return path


def events(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / f"exp_{EXPERIMENT}").glob("event_[0-9]*"))


def test_nothing_is_saved_before_the_first_event(store: SearchStore) -> None:
    assert store.newest(EXPERIMENT) is None
    assert store.experiment_id is None


def test_the_name_of_a_submission_is_made_once(store: SearchStore, tmp_path: Path) -> None:
    first = store.submission_id()
    assert store.submission_id() == SearchStore(tmp_path).submission_id() == first
    store.experiment_id = 12
    assert SearchStore(tmp_path).experiment_id == 12


def test_the_newest_event_and_the_one_before_it_are_kept(store: SearchStore, tmp_path: Path) -> None:
    for event in (1, 2, 9, 10, 11):
        path = save(store, event)
        assert store.newest(EXPERIMENT) == path
        assert read_operations(path) == [{"event": event}]
    assert events(tmp_path) == ["event_10", "event_11"]


def test_an_event_whose_saving_failed_is_not_the_newest_and_is_written_anew(store: SearchStore) -> None:
    whole = save(store, 1)
    with pytest.raises(ZeroDivisionError), store.saving(EXPERIMENT, 2, []) as path:
        (path / "half").write_text("1")
        raise ZeroDivisionError
    assert store.newest(EXPERIMENT) == whole
    again = save(store, 2)
    assert store.newest(EXPERIMENT) == again and not (again / "half").exists()


def test_going_back_leads_to_the_event_before_and_from_the_first_to_none(store: SearchStore, tmp_path: Path) -> None:
    first = save(store, 1)
    save(store, 2)
    store.forget_newest(EXPERIMENT)
    assert store.newest(EXPERIMENT) == first
    store.forget_newest(EXPERIMENT)
    assert store.newest(EXPERIMENT) is None and events(tmp_path) == []


def test_a_file_is_replaced_in_one_step(store: SearchStore, tmp_path: Path) -> None:
    store.experiment_id = 1
    (tmp_path / "experiment_id.txt.new").write_text("9 and hal")  # of a runner that died while it wrote
    assert store.experiment_id == 1
    store.experiment_id = 2
    assert (tmp_path / "experiment_id.txt").read_text() == "2"
    assert not (tmp_path / "experiment_id.txt.new").exists()


def test_experiments_of_one_directory_do_not_mix(store: SearchStore) -> None:
    mine = save(store, 1)
    with store.saving(4, 8, []):
        pass
    assert store.newest(EXPERIMENT) == mine
    other = store.newest(4)
    assert other is not None and other.name == "event_8"


def test_a_lock_ends_with_its_process(store: SearchStore, tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from determined.searcher._store import SearchStore\n"
        "with SearchStore(Path(sys.argv[1])).locked():\n    print('held', flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None and child.stdout.readline() == b"held\n"
        with pytest.raises(FailedPrecondition, match=f"another runner works in {tmp_path}; stop it"), store.locked():
            pass
        child.kill()
    with store.locked():
        pass


def test_operations_are_stored_as_json_of_one_line(store: SearchStore) -> None:
    path = save(store, 5)
    assert json.loads((path / "ops").read_text()) == [{"event": 5}]
