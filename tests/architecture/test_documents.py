"""Documents that are generated are up to date, links lead somewhere, and nothing is left out of the index."""

import functools
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from document_blocks import every_document

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "scripts"
DOCS = ROOT / "docs"

REFERENCES = (
    "make_benchmark_table",
    "make_cli_reference",
    "make_completion_table",
    "make_config_reference",
    "make_engines_table",
    "make_frameworks_table",
    "make_permission_reference",
    "make_searchers_table",
    "make_sqlite_schema",
    "make_webui_searchers",
    "make_webui_types",
)

CODE = ("src", "tests", "benchmarks", "scripts", "examples")
_NAMED = re.compile(r"\b(?:docs|benchmarks|examples)/[\w/.-]+\.md\b|\b(?:ARCHITECTURE|CONTRIBUTING|CHANGELOG)\.md\b")
# Papers that a reader of the repository does not have.
_ELSEWHERE = re.compile(r"\bspec/\w|\bdesign \d|\bseed 0\d|\b(?:spec|search|runtime|config|core)\.md \d")
_LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    yield
    for name in (*REFERENCES, "make_rows", "benchmark_lines"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("name", REFERENCES)
def test_the_generated_reference_is_up_to_date(scripts: None, name: str) -> None:
    script: ModuleType = importlib.import_module(name)
    assert script.TARGET.read_text() == script.reference(), f"run: .venv/bin/python scripts/{name}.py"


def test_the_typed_rows_are_what_the_tables_say(scripts: None) -> None:
    script = importlib.import_module("make_rows")
    written = {path: path.read_text() for path in script.TARGET.glob("*.py") if path.name != "__init__.py"}
    assert written == script.files(), "run: .venv/bin/python scripts/make_rows.py"


@pytest.mark.parametrize("document", every_document(), ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_between_documents_lead_to_a_file_and_a_heading(document: Path) -> None:
    links = [link for link in _LINK.findall(_prose(document)) if "://" not in link[0]]
    broken = [f"{path}#{anchor}" for path, anchor in links if not _leads_somewhere(document, path, anchor)]
    assert not broken, f"{document.name} links to {broken}"


def test_pages_for_contributors_name_only_files_that_are_here() -> None:
    files = [
        f"/{path.relative_to(ROOT).as_posix()}"
        for folder in (*CODE, "webui/src")
        for path in (ROOT / folder).rglob("*")
    ]
    pages = {*(DOCS / "architecture").glob("*.md"), ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"}
    for page in pages:
        named = re.findall(r"`([a-z_][\w/]*\.(?:py|sh|tsx?))`", page.read_text())
        gone = [name for name in named if not any(file.endswith(f"/{name}") for file in files)]
        assert not gone, f"{page.relative_to(ROOT)} names {gone}"


@pytest.mark.parametrize("folder", CODE)
def test_code_names_only_documents_that_are_here(folder: str) -> None:
    for path in (ROOT / folder).rglob("*.py"):
        if any(part.startswith(".") for part in path.relative_to(ROOT).parts):
            continue  # an environment of benchmarks, with packages of others
        if path in (Path(__file__), ROOT / "tests" / "unit" / "scripts" / "test_guide.py"):
            continue  # their examples are made up
        text = path.read_text()
        gone = [name for name in _NAMED.findall(text) if not (ROOT / name).is_file()]
        assert not gone, f"{path.relative_to(ROOT)} names {gone}"
        assert not _ELSEWHERE.search(text), f"{path.relative_to(ROOT)} refers to a document outside of the repository"


def test_every_page_example_and_measurement_is_reached_from_the_index() -> None:
    index = DOCS / "index.md"
    listed = {(DOCS / path).resolve() for path, _ in _LINK.findall(index.read_text()) if "://" not in path}
    documents = {*every_document(), *(ROOT / "benchmarks" / "results").glob("*.md")} - {index, ROOT / "README.md"}
    lost = [path.relative_to(ROOT).as_posix() for path in documents - listed]
    assert not lost, f"docs/index.md does not link to {lost}"


def _leads_somewhere(document: Path, path: str, anchor: str) -> bool:
    target = document.parent / path if path else document
    return target.exists() and (not anchor or target.suffix != ".md" or anchor in _anchors(target))


@functools.cache
def _anchors(document: Path) -> set[str]:
    """Names of headings, as the forges and the site both write them."""
    headings = re.findall(r"^#+ (.+)$", _prose(document), re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


@functools.cache
def _prose(document: Path) -> str:
    """The text without its blocks and spans of code."""
    return re.sub(
        r"`[^`\n]*`", lambda span: span[0].strip("`").replace("](", "] ("), _BLOCK.sub("", document.read_text())
    )
