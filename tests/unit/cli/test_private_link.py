"""What a browser is started with: a file of one's own that leads to the address and does not stay."""

import stat
import time
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

from determined.cli import private_link

ADDRESS = "http://127.0.0.1:8080/det/login?redirect=/det/tasks&x=1#code=s3cret"


class Browser:
    """Looks at what it is started with at that moment, as a real one would."""

    def __init__(self, *, found: bool = True) -> None:
        self.found = found
        self.given, self.mode, self.text = "", 0, ""

    def open(self, url: str) -> bool:
        self.given = url
        self.mode = stat.S_IMODE(self.file.stat().st_mode)
        self.text = self.file.read_text()
        return self.found

    @property
    def file(self) -> Path:
        parts = urlparse(self.given)
        assert parts.scheme == "file"
        return Path(unquote(parts.path))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    monkeypatch.setenv("HOME", str(made))
    monkeypatch.setattr(private_link, "_EXPIRED_SECONDS", 0)
    return made


def _start(monkeypatch: pytest.MonkeyPatch, browser: Browser) -> bool:
    monkeypatch.setattr("webbrowser.open", browser.open)
    return private_link.open_browser(ADDRESS)


def _wait_until_gone(file: Path) -> None:
    deadline = time.monotonic() + 20
    while file.exists():
        assert time.monotonic() < deadline, f"{file} stayed"
        time.sleep(0.01)


@pytest.mark.usefixtures("home")
def test_the_code_is_in_a_file_of_ones_own_and_not_on_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Browser()
    assert _start(monkeypatch, browser)
    assert "s3cret" not in browser.given
    assert browser.mode == 0o600
    assert 'url=http://127.0.0.1:8080/det/login?redirect=/det/tasks&amp;x=1#code=s3cret"' in browser.text
    _wait_until_gone(browser.file)


@pytest.mark.parametrize("found", [True, False])
def test_the_file_goes_whether_or_not_there_is_a_browser(
    home: Path, monkeypatch: pytest.MonkeyPatch, found: bool
) -> None:
    browser = Browser(found=found)
    assert _start(monkeypatch, browser) is found
    assert browser.file.parent == home, "a browser from a snap sees nothing else"
    _wait_until_gone(browser.file)
    assert list(home.iterdir()) == []


def test_without_a_home_the_file_lies_among_temporary_ones(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.rmdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    browser = Browser()
    assert _start(monkeypatch, browser)
    assert browser.file.parent == tmp_path
    assert browser.mode == 0o600
    _wait_until_gone(browser.file)
