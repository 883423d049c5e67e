"""The log directory of a TensorBoard: links to mounted stores, and whether there is anything to show."""

from pathlib import Path

from determined.exec.tensorboard import log_directory
from determined.storage.shared_fs.config import section_at
from determined.wire.tensorboard_settings import TensorboardSource


def _source(name: str, store: Path, prefix: str) -> TensorboardSource:
    return TensorboardSource(name=name, storage=section_at(str(store)), prefix=prefix)


def test_sources_are_linked_before_their_files_exist(tmp_path: Path) -> None:
    root, store = tmp_path / "log", tmp_path / "store"
    root.mkdir()
    log_directory.link_local([_source("experiment/1", store, "c/1"), _source("trial/7", store, "c/2/7")], root)
    assert not log_directory.has_event_files(root)
    (store / "c/2/7").mkdir(parents=True)
    (store / "c/2/7/hparams.yaml").write_text("")
    assert not log_directory.has_event_files(root)
    (store / "c/2/7/events.out.tfevents.1.host").write_text("")
    assert log_directory.has_event_files(root)
    assert (root / "trial/7/hparams.yaml").is_file()


def test_a_link_that_leads_back_up_does_not_hang(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "back").symlink_to(tmp_path)
    assert not log_directory.has_event_files(tmp_path)


def test_stores_without_a_driver_are_on_this_machine() -> None:
    s3 = TensorboardSource(name="experiment/1", storage={"type": "s3", "bucket": "b"}, prefix="c")
    assert not log_directory.is_local(s3)
    assert log_directory.is_local(_source("experiment/1", Path("/store"), "c"))
