"""Write the first table of docs/frameworks.md from the `framework.toml` of every training API."""

import sys
from pathlib import Path

from doc_table import replace_table

from determined._frameworks import Framework, frameworks

TARGET = Path(__file__).parents[1] / "docs" / "frameworks.md"

_HEAD = "| framework | trial class | plain way | install |"


def main() -> int:
    TARGET.write_text(reference())
    print(f"wrote {TARGET}")
    return 0


def reference() -> str:
    """Return the page with a table that is up to date."""
    return replace_table(TARGET.read_text(), "frameworks", _HEAD, _rows())


def _rows() -> list[str]:
    """A row per framework: Lightning has a trial class and a plain way in two packages."""
    names = sorted({framework.name for framework in frameworks()}, key=str.lower)
    return [_row(name, [framework for framework in frameworks() if framework.name == name]) for name in names]


def _row(name: str, packages: list[Framework]) -> str:
    classes = {package.trial_class: package.trial_page for package in packages if package.trial_class}
    plain_ways = {way: page for package in packages for way, page in package.plain_ways.items()}
    return f"| {name} | {_links(classes)} | {_links(plain_ways)} | `{packages[0].install}` |"


def _links(pages: dict[str, str]) -> str:
    return ", ".join(f"[`{name}`]({page})" for name, page in pages.items())


if __name__ == "__main__":
    sys.exit(main())
