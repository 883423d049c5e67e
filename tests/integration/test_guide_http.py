"""The documentation site under /docs/guide: its files and headers, and the plain page where none was built."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from determined.master.routes import guide

SCRIPT = "assets/javascripts/bundle.0123abcd.min.js"


@pytest.fixture
def site(start_master: Any, sqlite_url: str) -> Any:
    return start_master(sqlite_url).anonymous


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A built guide, with a file beside it that nobody may read."""
    root = tmp_path / "guide"
    (root / "assets" / "javascripts").mkdir(parents=True)
    (root / "index.html").write_text("<title>The guide</title>")
    (root / "index.html.gz").write_bytes(b"gzip")
    (root / "search.json").write_text("{}")
    (root / SCRIPT).write_text("script")
    (tmp_path / "secret.json").write_text("classified")
    monkeypatch.setattr(guide, "guide_directory", lambda: root)
    return root


@pytest.mark.parametrize(("path", "target"), [("/docs/guide", "guide/index.html"), ("/docs/guide/", "index.html")])
def test_the_front_door_leads_to_the_first_page_by_a_relative_path(
    site: Any, built: Path, path: str, target: str
) -> None:
    sent = site.pool.request("GET", site.url + path, redirect=False)
    assert sent.status in (302, 307)
    assert sent.headers["location"] == target


def test_a_page_is_asked_for_again_each_time_and_runs_under_the_policy_of_the_web_page(site: Any, built: Path) -> None:
    page, words = site.get("/docs/guide/index.html"), site.get("/docs/guide/search.json")
    assert page.raw == b"<title>The guide</title>"
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["cache-control"] == words.headers["cache-control"] == "no-cache"
    assert "script-src 'self';" in page.headers["content-security-policy"]
    assert "unsafe" not in page.headers["content-security-policy"]
    assert page.headers["x-frame-options"] == "SAMEORIGIN"


def test_a_page_comes_compressed_where_the_browser_reads_that(site: Any, built: Path) -> None:
    headers = {"Accept-Encoding": "gzip"}
    sent = site.pool.request("GET", f"{site.url}/docs/guide/index.html", headers=headers, decode_content=False)
    assert (sent.data, sent.headers["content-encoding"]) == (b"gzip", "gzip")


def test_a_page_that_was_packed_compressed_alone_is_also_read_by_a_client_that_takes_no_compression(
    site: Any, built: Path
) -> None:
    (built / "cli.html.gz").write_bytes(gzip.compress(b"<title>Commands</title>"))
    headers = {"Accept-Encoding": "identity"}
    sent = site.pool.request("GET", f"{site.url}/docs/guide/cli.html", headers=headers, decode_content=False)
    assert (sent.status, sent.data) == (200, b"<title>Commands</title>")
    assert "content-encoding" not in sent.headers


def test_a_script_with_a_hash_in_its_name_is_kept_for_a_year(site: Any, built: Path) -> None:
    assert site.get(f"/docs/guide/{SCRIPT}").headers["cache-control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize("name", ["no-such-page.html", "../secret.json", "%2e%2e/secret.json", ".hidden.json"])
def test_what_is_no_file_of_the_guide_is_not_found(site: Any, built: Path, name: str) -> None:
    answer = site.get(f"/docs/guide/{name}")
    assert answer.status == 404
    assert b"classified" not in answer.raw


def test_the_description_of_the_api_is_still_at_docs(site: Any, built: Path) -> None:
    assert b"openapi" in site.get("/docs").raw
    assert site.get("/docs/openapi.json").status == 200


def test_a_master_without_a_guide_says_how_to_build_it(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guide, "guide_directory", lambda: None)
    answer = site.get("/docs/guide/index.html")
    assert answer.status == 200
    assert b"<code>make docs</code>" in answer.raw
    assert "'nonce-" in answer.headers["content-security-policy"]
