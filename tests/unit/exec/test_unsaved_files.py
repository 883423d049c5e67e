"""Files that a task leaves in its working directory: named when people would miss them, and never else."""

from pathlib import Path

import pytest

from determined.exec.runner import unsaved_files
from determined.exec.runner.unsaved_files import describe
from determined.rundir.layout import RunDir

KIB = 1024


@pytest.fixture
def run_dir(tmp_path: Path) -> RunDir:
    made = RunDir(tmp_path)
    made.create()
    for directory in (made.workdir, made.model):
        directory.mkdir(parents=True)
    return made


def write(root: Path, name: str, size: int = 10) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(size))


def test_a_directory_without_results_is_not_worth_a_line(run_dir: RunDir) -> None:
    for name in ("notes.txt", "empty.pt/notes.txt", "small.csv"):
        write(run_dir.workdir, name)
    write(run_dir.workdir, "nothing.pt", 0)
    assert describe(run_dir) is None


@pytest.mark.parametrize("name", ["model.pt", "best.ckpt", "out/m.safetensors", "x.npz", "f.parquet"])
def test_a_result_is_named_however_small_with_a_way_to_keep_it(run_dir: RunDir, name: str) -> None:
    write(run_dir.workdir, name, 2 * KIB)
    said = describe(run_dir)
    assert said is not None and f"{name} (2 KiB); to keep such files save them in a checkpoint" in said


def test_any_large_file_is_named(run_dir: RunDir) -> None:
    write(run_dir.workdir, "train.log", 64 * KIB)
    write(run_dir.workdir, "other.log", 64 * KIB - 1)
    said = describe(run_dir)
    assert said is not None and "train.log (64 KiB)" in said and "other.log" not in said


def test_results_come_first_then_the_largest_and_the_rest_is_counted(run_dir: RunDir) -> None:
    for name, size in (("big.log", 900 * KIB), ("a.pt", 1), ("b.pt", 5), ("c.csv", 100 * KIB), ("d.csv", 3072 * KIB)):
        write(run_dir.workdir, name, size)
    said = describe(run_dir)
    assert said is not None and "b.pt (5 B), a.pt (1 B), d.csv (3 MiB) and 2 more;" in said


def test_what_was_submitted_or_stored_or_is_hidden_is_not_missed(run_dir: RunDir) -> None:
    for root in (run_dir.workdir, run_dir.model):
        write(root, "pretrained.pt")
    for name in (".cache/m.pt", "__pycache__/m.pt", "checkpoints/m.pt", "checkpoints/deep/m.pt"):
        write(run_dir.workdir, name)
    (run_dir.workdir / "link.pt").symlink_to(run_dir.model / "pretrained.pt")
    run_dir.uploaded.write_text(f"{run_dir.workdir}/checkpoints\n")
    assert describe(run_dir) is None
    run_dir.uploaded.write_bytes(b"\xff")
    assert describe(run_dir) is not None, "notes that cannot be read say nothing"


def test_a_data_set_that_was_unpacked_there_is_looked_at_only_so_far(
    run_dir: RunDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unsaved_files, "_MOST_FILES", 5)
    for number in range(9):
        write(run_dir.workdir, f"{number}.npy")
    said = describe(run_dir)
    assert said is not None and "and 2 more" in said


def test_directories_nested_beyond_reason_stop_nobody(run_dir: RunDir, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unsaved_files, "_DEEPEST", 3)
    write(run_dir.workdir, "a/b/c/near.pt")
    write(run_dir.workdir, "a/b/c/d/e/f/far.pt")
    said = describe(run_dir)
    assert said is not None and "near.pt" in said and "far.pt" not in said


@pytest.mark.parametrize(
    ("size", "text"), [(1, "1 B"), (1023, "1023 B"), (1024, "1 KiB"), (5 << 20, "5 MiB"), (3 << 30, "3.0 GiB")]
)
def test_sizes_are_told_in_the_unit_that_people_read(size: int, text: str) -> None:
    assert unsaved_files._size(size) == text
