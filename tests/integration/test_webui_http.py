"""What a browser gets under /det/: the page, its assets, their headers; and the plain page where none was built."""

import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from determined.master.routes import webui
from determined.master.routes.webui_files import accepts

SCRIPT = "assets/main-abc123.js"


@pytest.fixture
def site(start_master: Any, sqlite_url: str) -> Any:
    return start_master(sqlite_url).anonymous


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A built page, with a file beside it that nobody may read."""
    root = tmp_path / "dist"
    (root / "assets").mkdir(parents=True)
    (root / ".vite").mkdir()
    (root / "index.html").write_text("<!doctype html><html><head><title>The page</title></head></html>")
    (root / SCRIPT).write_text("export const x = 1;")
    (root / f"{SCRIPT}.br").write_bytes(b"brotli")
    (root / f"{SCRIPT}.gz").write_bytes(b"gzip")
    (root / "theme.js").write_text("theme")
    (root / ".vite" / "manifest.json").write_text("{}")
    (tmp_path / "secret.js").write_text("classified")
    monkeypatch.setattr(webui, "page_directory", lambda: root)
    return root


@pytest.fixture
def unbuilt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webui, "page_directory", lambda: None)


@pytest.mark.parametrize("path", ["/det", "/det/", "/det/experiments/7/logs", "/det/login?code=x", "/det/trials/1.5"])
def test_every_address_of_the_page_is_the_page_and_is_asked_for_again_each_time(
    site: Any, built: Path, path: str
) -> None:
    answer = site.get(path)
    assert answer.status == 200
    assert b"<title>The page</title>" in answer.raw
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["content-type"].startswith("text/html")


def test_the_page_runs_under_a_strict_policy(site: Any, built: Path) -> None:
    answer = site.get("/det/")
    policy = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == policy["script-src"] == policy["connect-src"] == policy["worker-src"] == "'self'"
    assert policy["object-src"] == policy["base-uri"] == "'none'"
    assert policy["frame-ancestors"] == policy["form-action"] == "'self'"
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["x-frame-options"] == "SAMEORIGIN"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert "camera=()" in answer.headers["permissions-policy"]


def test_each_answer_allows_the_style_sheets_of_widgets_by_a_nonce_of_its_own(site: Any, built: Path) -> None:
    nonces = set()
    for _ in range(2):
        answer = site.get("/det/")
        nonce = answer.raw.decode().partition('<meta name="csp-nonce" nonce="')[2].partition('"')[0]
        assert f"style-src 'self' 'nonce-{nonce}';" in answer.headers["content-security-policy"]
        nonces.add(nonce)
    assert len(nonces) == 2
    assert "" not in nonces


@pytest.mark.parametrize(
    ("accepted", "encoding", "content"),
    [
        ("gzip, deflate, br", "br", b"brotli"),
        ("gzip", "gzip", b"gzip"),
        ("br;q=0, gzip;q=0.5", "gzip", b"gzip"),
        ("", None, b"export const x = 1;"),
    ],
)
def test_an_asset_comes_compressed_as_the_browser_reads_it_and_is_kept_for_a_year(
    site: Any, built: Path, accepted: str, encoding: str | None, content: bytes
) -> None:
    sent = site.pool.request(
        "GET", f"{site.url}/det/{SCRIPT}", headers={"Accept-Encoding": accepted}, decode_content=False
    )
    assert sent.status == 200
    assert sent.headers.get("content-encoding") == encoding
    assert sent.data == content
    assert sent.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert sent.headers["vary"] == "Accept-Encoding"
    assert sent.headers["content-type"] == "text/javascript; charset=utf-8"
    assert "script-src 'self'" in sent.headers["content-security-policy"]


def test_an_asset_of_another_version_is_not_found(site: Any, built: Path) -> None:
    assert site.get("/det/assets/main-000000.js").status == 404


def test_a_file_without_a_hash_in_its_name_is_asked_for_again_each_time(site: Any, built: Path) -> None:
    answer = site.get("/det/theme.js")
    assert answer.raw == b"theme"
    assert answer.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    "path",
    [
        "/det/../secret.js",
        "/det/assets/../../secret.js",
        "/det/assets/%2e%2e/%2e%2e/secret.js",
        "/det/assets/..%2f..%2fsecret.js",
        "/det//../secret.js",
        "/det/assets/..\\..\\secret.js",
        "/det/.vite/manifest.json",
        "/det/assets/main%00.js",
    ],
)
def test_no_path_leads_out_of_the_page(site: Any, built: Path, path: str) -> None:
    answer = _raw_get(site.url, path)
    assert b"classified" not in answer
    assert not answer.endswith(b"{}")
    assert b" 200 " not in answer.splitlines()[0] or b"<title>The page</title>" in answer


def test_the_root_leads_to_the_page(site: Any, built: Path) -> None:
    answer = site.pool.request("GET", f"{site.url}/", redirect=False)
    assert answer.status == 302
    assert answer.headers["location"] == "/det/"


def test_without_a_built_page_an_address_says_how_to_build_it_and_names_a_command(site: Any, unbuilt: None) -> None:
    answer = site.get("/det/experiments/7")
    assert answer.status == 200
    assert b"det experiment describe 7" in answer.raw
    assert b"make webui" in answer.raw
    assert site.get(f"/det/{SCRIPT}").status == 404


def test_a_hostile_path_is_shown_as_text(site: Any, unbuilt: None) -> None:
    answer = site.get("/det/%3Cscript%3Ealert(1)%3C/script%3E")
    assert answer.status == 200
    assert b"<script>" not in answer.raw


def test_other_answers_keep_their_own_policy(site: Any) -> None:
    policy = site.get("/info").headers["content-security-policy"]
    assert "frame-ancestors 'self'" in policy
    assert "script-src" not in policy


@pytest.mark.parametrize(
    ("header", "read"), [("br", True), ("gzip, BR;q=1.0", True), ("br;q=0.000", False), ("brotli", False), ("", False)]
)
def test_an_encoding_counts_when_it_is_named_and_not_weighed_with_zero(header: str, read: bool) -> None:
    assert accepts(header, "br") is read


def _raw_get(url: str, path: str) -> bytes:
    """The path as it is: HTTP clients would tidy it up."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=60) as conn:
        conn.sendall(f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n\r\n".encode())
        received = b""
        while chunk := conn.recv(65536):
            received += chunk
    return received


@pytest.mark.parametrize("path", ["/det/assets/" + "a" * 5000 + ".js", "/det/" + "b" * 300 + ".js"])
def test_a_name_that_no_file_can_have_is_no_error_of_ours(site: Any, built: Path, path: str) -> None:
    assert site.get(path).status == (404 if "/assets/" in path else 200)
