"""The file in which launchers leave the cause: the first failure of the newest attempt, in private."""

from pathlib import Path

import pytest

from determined.rundir.failure import Failure, forget_failure, read_failure, record_failure


def test_what_is_recorded_is_read_back_cut_to_the_last_ten_lines(tmp_path: Path) -> None:
    record_failure(tmp_path, Failure(3, 7, 12.5, [f"line {n}" for n in range(30)] + ["x" * 5000]))
    found = read_failure(tmp_path)
    assert found is not None
    assert (found.rank, found.status, found.time) == (3, 7, 12.5)
    assert found.lines[0] == "line 21" and len(found.lines) == 10
    assert found.lines[-1] == "x" * 300
    assert [path.name for path in tmp_path.iterdir()] == ["failure.json"]
    assert (tmp_path / "failure.json").stat().st_mode & 0o777 == 0o600


def test_progress_bars_are_not_taken_for_the_cause(tmp_path: Path) -> None:
    bars = [" 33%|███▎      | 8/24 [00:08<00:17,  1.08s/it]", "Epoch 1:  50%|#####     | 12/24 [00:01<00:01, 6.2it/s]"]
    said = ["loss is 33%", "ValueError: no loss"]
    record_failure(tmp_path, Failure(0, 1, 1.0, [bars[0], *said, *bars]))
    found = read_failure(tmp_path)
    assert found is not None and found.lines == said


def test_a_long_line_of_bars_holds_nobody_up(tmp_path: Path) -> None:
    line = " 33%|###       | 8/24 [00:08<00:17,  1.08s/it]" * 2000 + " ValueError"
    record_failure(tmp_path, Failure(0, 1, 1.0, [line, line + line[:46]]))
    found = read_failure(tmp_path)
    assert found is not None and found.lines == [line[:300]]


def test_first_failure_of_the_newest_attempt_counts(tmp_path: Path) -> None:
    for failure in (
        Failure(1, 1, 1.0),
        Failure(0, 2, 2.0),
        Failure(2, 3, 3.0, attempt=1),
        Failure(3, 4, 4.0, attempt=1),
    ):
        record_failure(tmp_path, failure)
    assert read_failure(tmp_path) == Failure(2, 3, 3.0, attempt=1)
    forget_failure(tmp_path)
    assert read_failure(tmp_path) is None


def test_failure_that_is_told_later_but_came_earlier_counts(tmp_path: Path) -> None:
    for failure in (Failure(0, 1, 2.0), Failure(1, 1, 1.5), Failure(2, 1, 1.8)):
        record_failure(tmp_path, failure)
    assert read_failure(tmp_path) == Failure(1, 1, 1.5)
    assert [path.name for path in tmp_path.iterdir()] == ["failure.json"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"rank": "x"}', '{"rank": 1, "status": 1, "time": 1, "lines": 3}'])
def test_file_of_somebody_else_is_no_failure(tmp_path: Path, text: str) -> None:
    (tmp_path / "failure.json").write_text(text)
    assert read_failure(tmp_path) is None
    record_failure(tmp_path, Failure(0, 1, 1.0))
    assert (tmp_path / "failure.json").read_text() == text


def test_description_says_who_how_and_what_was_last_seen() -> None:
    assert (
        Failure(2, 139, 0.0, ["a", "b"]).describe()
        == "rank 2 failed first here, ended by SIGSEGV. Its last lines:\n    a\n    b"
    )
    assert Failure(None, 255, 0.0).describe() == "the process failed first here, with status 255."
