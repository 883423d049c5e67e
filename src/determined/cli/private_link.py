"""Starts a browser at an address that signs in, so that nobody else on the machine reads it in the list of processes.

The browser is given a file that only this user can read, and that leads on; it goes when the address has expired.
"""

import html
import os
import subprocess
import tempfile
import webbrowser
from pathlib import Path

_EXPIRED_SECONDS = 60  # a link is void by then
_PAGE = """\
<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>Determined</title>
<p><a href="{address}">Open the web page</a></p>
"""
# Browsers say neither when they have read a file nor that they are up, and desktops read it first to learn its type.
_REMOVE_LATER = '(sleep "$1"; rm -f -- "$2") &'


def open_browser(address: str) -> bool:
    """Open the address in a browser; return whether one was found."""
    file = _write(_PAGE.format(address=html.escape(address)))
    try:
        return webbrowser.open(file.as_uri())
    finally:
        command = ["sh", "-c", _REMOVE_LATER, "sh", str(_EXPIRED_SECONDS), str(file)]
        quiet = subprocess.DEVNULL
        subprocess.run(command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True, check=True)


def _write(text: str) -> Path:
    """Write into the home directory itself: a browser from a snap sees neither /tmp nor what is hidden."""
    try:
        number, name = _make(str(Path.home()))
    except OSError:
        number, name = _make(None)
    with os.fdopen(number, "w", encoding="utf-8") as stream:
        stream.write(text)
    return Path(name)


def _make(directory: str | None) -> tuple[int, str]:
    return tempfile.mkstemp(".html", "det-open-", directory)
