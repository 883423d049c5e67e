"""Why a master ended, read from its log."""

import json
from pathlib import Path

from determined.deploy import master_log


def test_the_log_is_private_and_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "master.log"
    for text in (b"one\n", b"two\n"):
        with master_log.opened(path) as log:
            log.write(text)
    assert path.read_text() == "one\ntwo\n"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_log_others_could_read_is_made_private(tmp_path: Path) -> None:
    path = tmp_path / "master.log"
    path.write_text("")
    path.chmod(0o644)
    with master_log.opened(path):
        assert path.stat().st_mode & 0o777 == 0o600


def test_a_large_log_is_put_aside(tmp_path: Path) -> None:
    path = tmp_path / "master.log"
    with path.open("wb") as file:
        file.truncate(21 * 1024 * 1024)
    with master_log.opened(path) as log:
        log.write(b"fresh\n")
    assert path.read_text() == "fresh\n"
    assert (tmp_path / "master.log.1").exists()


def test_the_last_error_is_told_without_what_only_machines_read(tmp_path: Path) -> None:
    path = tmp_path / "master.log"
    entries = [("ERROR", "an old one"), ("ERROR", "cannot start: the database is damaged"), ("INFO", "bye")]
    path.write_text("".join(json.dumps({"level": level, "message": text}) + "\n" for level, text in entries))
    assert master_log.last_error(path) == f"the database is damaged (log: {path})"


def test_a_refused_config_is_told_too(tmp_path: Path) -> None:
    path = tmp_path / "master.log"
    path.write_text("determined-master: invalid\n<config>: no `prot`\n<config>: no `x`\n")
    assert master_log.last_error(path) == f"invalid\n<config>: no `prot`\n<config>: no `x` (log: {path})"


def test_a_log_without_errors_is_shown_by_its_end(tmp_path: Path) -> None:
    path = tmp_path / "master.log"
    path.write_text("Traceback\nValueError: x\n")
    assert "ValueError: x" in master_log.last_error(path)
    assert "nothing" not in master_log.last_error(tmp_path / "none")


def _warnings(path: Path, *lines: object) -> None:
    text = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("".join(f"{line}\n" for line in text))


def test_the_last_warning_of_some_loggers_is_found_between_anything_else(tmp_path: Path) -> None:
    path = tmp_path / "master.log"
    _warnings(
        path,
        {"level": "WARNING", "logger": "determined.engines.ray", "message": "first"},
        {"level": "ERROR", "logger": "determined.engines.ray.bridge", "message": "second"},
        {"level": "INFO", "logger": "determined.engines.ray", "message": "only news"},
        {"level": "ERROR", "logger": "determined.master", "message": "of somebody else"},
        "12",
        "null",
        '"text"',
        "[]",
        "Traceback (most recent call last):",
    )
    assert master_log.last_warning(path, "determined.engines.ray", 0) == "second"
    assert master_log.last_warning(path, "determined.engines.slurm", 0) is None


def test_warnings_of_an_earlier_start_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "master.log"
    assert master_log.last_warning(path, "determined", 0) is None
    _warnings(path, {"level": "WARNING", "logger": "determined", "message": "old"})
    assert master_log.last_warning(path, "determined", path.stat().st_size) is None
    assert master_log.last_warning(path, "determined", 10_000) is None


def test_only_the_end_of_a_long_log_is_read(tmp_path: Path) -> None:
    path = tmp_path / "master.log"
    old = json.dumps({"level": "ERROR", "message": "long ago"})
    path.write_text(old + "\n" + "x" * 70_000 + "\nlast words\n")
    said = master_log.last_error(path)
    assert "long ago" not in said and said.endswith("last words")


def test_a_log_that_is_no_text_is_shown_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "master.log"
    path.write_bytes(b"12\nnull\n\xff\xfe core dumped\n")
    assert "core dumped" in master_log.last_error(path)
