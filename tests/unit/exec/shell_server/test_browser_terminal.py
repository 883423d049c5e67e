"""Terminals of the web page on the socket of a shell: beside SSH, by key, kept when the page is gone."""

import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from shell_rig import SECRET, TASK, TIMEOUT, ShellRig

from determined.master.auth import shell_keys
from determined.wire.terminal import GREETING, FrameReader, Kind, data_frames, frame

KEY = shell_keys.terminal_key(SECRET, TASK)


class Page:
    """What the master says for a page, and what it hears."""

    def __init__(self, rig: ShellRig, key: str = KEY) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(TIMEOUT)
        self._socket.connect(str(rig.socket))
        self._socket.sendall(GREETING + key.encode() + b"\n")
        self._frames = FrameReader()
        self.shown = ""
        self.status: int | None = None

    def resize(self, columns: int, rows: int) -> None:
        text = json.dumps({"columns": columns, "rows": rows}).encode()
        self._socket.sendall(frame(Kind.WINDOW, text))

    def type(self, text: str) -> None:
        for part in data_frames(text.encode()):
            self._socket.sendall(part)

    def read(self) -> bool:
        """Return False when the shell has closed the connection."""
        data = self._socket.recv(65536)
        for kind, payload in self._frames.feed(data):
            if kind is Kind.DATA:
                self.shown += payload.decode(errors="replace")
            else:
                self.status = json.loads(payload)["status"]
        return bool(data)

    def expect(self, pattern: str) -> None:
        deadline = time.monotonic() + TIMEOUT
        while not re.search(pattern, self.shown):
            assert time.monotonic() < deadline, self.shown
            assert self.read(), self.shown

    def leave(self) -> None:
        self._socket.close()


@contextmanager
def page_of(rig: ShellRig, columns: int = 80, rows: int = 24) -> Iterator[Page]:
    page = Page(rig)
    page.resize(columns, rows)
    try:
        yield page
    finally:
        page.leave()


def test_a_page_gets_a_login_shell_of_its_size_and_its_status(rig: ShellRig) -> None:
    with page_of(rig, 100, 30) as page:
        page.type("stty size; echo $TERM $DET_TASK_ID\n")
        page.expect(rf"30 100\s+xterm-256color {TASK}")
        page.resize(120, 40)
        page.type("stty size\n")
        page.expect("40 120")
        page.type("exit 7\n")
        while page.read():
            pass
        assert page.status == 7


def test_another_key_gets_nothing_and_ssh_goes_on(rig: ShellRig) -> None:
    page = Page(rig, key="0" * len(KEY))
    page.resize(80, 24)
    assert not page.read()
    page.leave()
    assert rig.output("echo still here") == "still here\n"


def test_a_page_that_is_lost_finds_its_terminal_again(rig: ShellRig) -> None:
    with page_of(rig) as page:
        page.type("x=remembered; echo be'gin'; cat\n")
        page.expect(r"[\r\n]begin")
        page.type("into the program\n")
        page.expect("into the program\r\ninto the program")
    with page_of(rig) as page:
        page.expect("back in the terminal whose connection broke")
        page.expect("into the program")
        page.type("more\n")
        page.expect("more\r\nmore")
        page.type("\x04")
        page.type("echo $x\n")
        page.expect(r"[\r\n]remembered")


def test_two_pages_have_terminals_of_their_own(rig: ShellRig) -> None:
    with page_of(rig) as one, page_of(rig) as two:
        one.type("tty\n")
        two.type("tty\n")
        one.expect(r"(/dev/pts/\d+)")
        two.expect(r"(/dev/pts/\d+)")
        found = [re.search(r"/dev/pts/\d+", page.shown) for page in (one, two)]
        assert found[0] and found[1] and found[0][0] != found[1][0]


def test_a_flood_of_output_arrives_whole(rig: ShellRig) -> None:
    with page_of(rig) as page:
        page.type("stty -echo; seq 1 400000; echo the end\n")
        page.expect(r"400000\s+the end")
        assert "\r\n".join(str(number) for number in range(1, 400_001)) in page.shown


@pytest.mark.parametrize("noise", [b"\xff" * 64, b"\x00\xff\xff\xff", b"\x01\x00\x00\x02{}"])
def test_what_is_no_frame_ends_only_its_own_connection(rig: ShellRig, noise: bytes) -> None:
    page = Page(rig)
    page._socket.sendall(noise)
    assert not page.read()
    page.leave()
    assert rig.output("echo still here") == "still here\n"
