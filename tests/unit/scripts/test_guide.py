"""The documentation site's own steps: where pages go, how links change, and what the built pages lose."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).parents[3] / "scripts" / "guide"


def _load(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"guide_{name}", SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    yield _load("stage", monkeypatch)


@pytest.fixture
def finish(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    yield _load("finish", monkeypatch)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository of one page, one example and the documents at the root."""
    texts = {
        "ARCHITECTURE.md": "# Map\n[start](docs/index.md)\n",
        "CHANGELOG.md": "# Changes\n",
        "CONTRIBUTING.md": "# How\n",
        "README.md": "# Project\n",
        "docs/index.md": "# Home\n## Readers\n- [Page](a/page.md)\n### More\n- [Toy](../examples/toy/README.md)\n",
        "docs/a/page.md": "[toy](../../examples/toy/README.md#run) [map](../../ARCHITECTURE.md)\n```\n[x](y.md)\n```",
        "docs/images/one.png": "",
        "examples/toy/README.md": "# Toy\n[page](../../docs/a/page.md)\nFile `b.py`:\n```python\n1\n```\n",
        "examples/toy/train.py": "print()\n",
        "benchmarks/results/speed.md": "# Speed\n",
    }
    for name, text in texts.items():
        (tmp_path / "root" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "root" / name).write_text(text)
    return tmp_path / "root"


def test_links_follow_the_pages_to_their_new_places(stage: ModuleType, root: Path, tmp_path: Path) -> None:
    stage.stage(tmp_path / "pages", root)
    page = (tmp_path / "pages" / "a" / "page.md").read_text()
    assert "[toy](../examples/toy.md#run) [map](../architecture/overview.md)" in page
    assert "[x](y.md)" in page, "what stands in a block is text"
    assert "[page](../a/page.md)" in (tmp_path / "pages" / "examples" / "toy.md").read_text()


def test_an_example_is_one_page_with_its_files(stage: ModuleType, root: Path, tmp_path: Path) -> None:
    stage.stage(tmp_path / "pages", root)
    page = (tmp_path / "pages" / "examples" / "toy.md").read_text()
    assert '```python title="b.py"' in page
    assert "File `b.py`" not in page, "the title says it"
    assert '```python title="train.py"\nprint()\n```' in page


def test_a_link_that_leaves_the_site_is_named(stage: ModuleType, root: Path, tmp_path: Path) -> None:
    (root / "docs" / "a" / "page.md").write_text("[code](../../src/thing.py)\n")
    with pytest.raises(stage.LinkLeavesTheSite, match=r"docs/a/page.md links to ../../src/thing.py"):
        stage.stage(tmp_path / "pages", root)


def test_the_menus_are_the_lists_of_the_index(stage: ModuleType, root: Path) -> None:
    menus = stage.navigation(root)
    assert menus == (
        '[{"Home" = "index.md"}, {"Readers" = [{"Page" = "a/page.md"}, {"More" = [{"Toy" = "examples/toy.md"}]}]}]'
    )


def test_a_finished_page_has_no_script_and_no_style_sheet_inside(finish: ModuleType, tmp_path: Path) -> None:
    scripts = tmp_path / "assets" / "javascripts"
    scripts.mkdir(parents=True)
    (scripts / "bundle.00000000.min.js").write_text('let o=1;o.appendChild(C("style",{},Tc.toString()));')
    (tmp_path / "a").mkdir()
    tag = "<script src=../assets/javascripts/bundle.00000000.min.js></script>"
    (tmp_path / "a" / "page.html").write_text(f"<script>go()</script>{tag}")
    (tmp_path / "404.html").touch()
    finish.finish(tmp_path)
    bundle = next(scripts.glob("bundle.*.min.js"))
    assert "adoptedStyleSheets" in bundle.read_text()
    page = (tmp_path / "a" / "page.html").read_text()
    assert "go()" not in page
    assert f"../assets/javascripts/{bundle.name}" in page
    assert [path.read_text() for path in scripts.glob("page.*.js")] == ["go()"]
    assert (tmp_path / "a" / "page.html.gz").is_file()
    assert not (tmp_path / "404.html").exists()


def test_a_generator_that_has_changed_stops_the_build(finish: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "assets" / "javascripts").mkdir(parents=True)
    (tmp_path / "assets" / "javascripts" / "bundle.00000000.min.js").write_text("other()")
    with pytest.raises(OSError, match=r"adapt scripts/guide/finish.py"):
        finish.finish(tmp_path)
