"""Copies the documents of the repository to where the site generator reads them.

Pages of docs/ keep their paths; an example becomes one page with its files; the documents at the root and the results
of benchmarks come along. Links are rewritten to the new places, and one that leaves the site is an error.
"""

import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
AT_THE_ROOT = {
    "ARCHITECTURE.md": "architecture/overview.md",
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "README.md": "index.md",
}
LANGUAGES = {".json": "json", ".py": "python", ".yaml": "yaml"}
_FENCE = re.compile(r"^\s*(```+|~~~+)")
_FILE_MARK = re.compile(r"^File `(\S+)`:$")
_LINK = re.compile(r"(?<=\]\()(?P<path>[^)#\s]*)(?P<anchor>#[^)\s]*)?(?=\))")
_HEADING = re.compile(r"^(#{2,3}) (.+)$")
_ENTRY = re.compile(r"^- \[([^\]]+)\]\(([^)]+)\)")
# "Researchers" holds a group of pages for each smaller heading below it.
_SECTION = "##"


class LinkLeavesTheSite(Exception):
    """A document links to something that is not part of the site."""


@dataclass(frozen=True, slots=True)
class Page:
    """Document of the repository and its place in the site, both as relative paths."""

    source: PurePosixPath
    target: PurePosixPath

    @property
    def is_example(self) -> bool:
        return self.source.parts[0] == "examples"


def pages(root: Path = ROOT) -> list[Page]:
    """List every page of the site; docs/index.md is its front page, so the README is not one of its own."""
    found = [
        Page(PurePosixPath(name), PurePosixPath(place)) for name, place in AT_THE_ROOT.items() if name != "README.md"
    ]
    for folder in ("docs", "examples", "benchmarks/results"):
        for path in sorted((root / folder).rglob("*.md")):
            source = PurePosixPath(path.relative_to(root).as_posix())
            found.append(Page(source, _target(source)))
    return found


def stage(target: Path, root: Path = ROOT) -> None:
    """Write every page and picture below `target`.

    Raises: LinkLeavesTheSite, naming document and link.
    """
    places = {page.source: page.target for page in pages(root)}
    for page in pages(root):
        text = _titled_files(_relinked((root / page.source).read_text(), page, places))
        if page.is_example:
            text += _files_of_example((root / page.source).parent)
        _write(target / page.target, text)
    shutil.copytree(root / "docs" / "images", target / "images", dirs_exist_ok=True)
    for picture in (root / "benchmarks" / "results").glob("*.svg"):
        shutil.copy(picture, target / "benchmarks" / picture.name)


def navigation(root: Path = ROOT) -> str:
    """Read the order of pages from docs/index.md, as the value of `nav` in TOML."""
    groups: list[tuple[str, str, list[str]]] = []
    for line in (root / "docs" / "index.md").read_text().splitlines():
        if heading := _HEADING.match(line):
            groups.append((heading[1], heading[2], []))
        elif (entry := _ENTRY.match(line)) and groups:
            source = PurePosixPath(os.path.normpath(PurePosixPath("docs", entry[2])))
            groups[-1][2].append(_table(entry[1], json.dumps(str(_target(source)))))
    return f"[{_table('Home', json.dumps('index.md'))}, {', '.join(_nested(groups))}]"


def _nested(groups: list[tuple[str, str, list[str]]]) -> Iterator[str]:
    sections: list[tuple[str, list[str]]] = []
    for level, title, entries in groups:
        if level == _SECTION:
            sections.append((title, entries))
        else:
            sections[-1][1].append(_table(title, f"[{', '.join(entries)}]"))
    for title, entries in sections:
        yield _table(title, f"[{', '.join(entries)}]")


def _table(key: str, value: str) -> str:
    return f"{{{json.dumps(key)} = {value}}}"


def _target(source: PurePosixPath) -> PurePosixPath:
    if source.name in AT_THE_ROOT and len(source.parts) == 1:
        return PurePosixPath(AT_THE_ROOT[source.name])
    if source.parts[0] == "examples":
        return source.parent.with_suffix(".md")
    if source.parts[:2] == ("benchmarks", "results"):
        return PurePosixPath("benchmarks", source.name)
    return source.relative_to("docs")


def _relinked(text: str, page: Page, places: dict[PurePosixPath, PurePosixPath]) -> str:
    lines, inside = [], False
    for line in text.splitlines():
        inside ^= bool(_FENCE.match(line))
        lines.append(line if inside else _LINK.sub(lambda match: _new_link(match, page, places), line))
    return "\n".join(lines) + "\n"


def _new_link(match: re.Match[str], page: Page, places: dict[PurePosixPath, PurePosixPath]) -> str:
    path, anchor = match["path"], match["anchor"] or ""
    if not path or "://" in path or path.startswith("mailto:"):
        return match[0]
    linked = PurePosixPath(os.path.normpath(page.source.parent / path))
    for document in (linked, linked / "README.md"):
        if target := AT_THE_ROOT.get(str(document)) or places.get(document):
            return os.path.relpath(target, page.target.parent) + anchor
    if linked.suffix in (".png", ".svg"):
        return os.path.relpath(_target(linked), page.target.parent)
    raise LinkLeavesTheSite(f"{page.source} links to {path}, which is no page of the site")


def _titled_files(text: str) -> str:
    """Make the line ``File `name`:`` above a block the block's title."""
    lines = text.splitlines()
    for number, line in enumerate(lines[:-1]):
        mark = _FILE_MARK.match(line)
        if mark and lines[number + 1].startswith("```"):
            lines[number] = ""
            lines[number + 1] += f' title="{mark[1]}"'
    return "\n".join(lines) + "\n"


def _files_of_example(folder: Path) -> str:
    files = [path for path in sorted(folder.iterdir()) if path.suffix in LANGUAGES]
    parts = [f'```{LANGUAGES[path.suffix]} title="{path.name}"\n{path.read_text().rstrip()}\n```\n' for path in files]
    return "\n## Files\n\n" + "\n".join(parts)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
