"""The site that `make docs` built: it needs no other host, no fixed place, and has the names of the public API."""

import re
from pathlib import Path

import pytest

SITE = Path(__file__).parents[3] / "build" / "guide"
pytestmark = pytest.mark.skipif(not (SITE / "index.html").is_file(), reason="needs the site: make docs")

_LOADED = re.compile(r"<(?:script|img|link|iframe)\b[^>]*?\b(?:src|href)=[\"']?([^\"' >]+)")
_LINKED = re.compile(r"<a\b[^>]*?\bhref=[\"']?([^\"' >]+)")


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {path.relative_to(SITE).as_posix(): path.read_text() for path in SITE.rglob("*.html")}


def test_pages_load_nothing_from_other_hosts_and_nothing_by_an_absolute_path(pages: dict[str, str]) -> None:
    for name, text in pages.items():
        odd = [link for link in _LOADED.findall(text) if "://" in link or link.startswith("/")]
        assert not odd, f"{name} loads {odd}"


def test_links_work_at_any_place_in_the_master(pages: dict[str, str]) -> None:
    for name, text in pages.items():
        absolute = [link for link in _LINKED.findall(text) if link.startswith("/")]
        assert not absolute, f"{name} links to {absolute}"


def test_pages_hold_no_script_and_no_style_that_the_policy_forbids(pages: dict[str, str]) -> None:
    for name, text in pages.items():
        assert "<script>" not in text, name
        assert not re.search(r"<style|<[^>]+ (?:style|on[a-z]+)=", re.sub(r"<code.*?</code>", "", text, flags=re.S)), (
            name
        )


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("core", ("CheckpointContext", "should_preempt", "report_validation_metrics")),
        ("pytorch", ("PyTorchTrial", "wrap_model", "evaluation_reducer")),
        ("keras", ("DeterminedCallback", "TFKerasTrial")),
        ("client", ("create_experiment", "get_trial")),
        ("determined", ("InvalidHP", "get_cluster_info")),
    ],
)
def test_the_python_reference_has_the_public_names(pages: dict[str, str], page: str, names: tuple[str, ...]) -> None:
    text = pages[f"reference/python/{page}.html"]
    assert [name for name in names if name not in text] == []


def test_an_example_shows_its_files(pages: dict[str, str]) -> None:
    assert "MNistTrial" in pages["examples/pytorch/mnist.html"]
