"""Fenced blocks of our documents, and the check of those that are configurations."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from determined import config
from determined.master.config import load_master_config

ROOT = Path(__file__).parents[1]
_FENCE = re.compile(r"^```(\S*)$")
_COMMENT = re.compile(r"^<!-- (not run|exit status|given|needs): (.+) -->$")
_FILE = re.compile(r"^File `(\S+)`:$")  # visible where comments are not


@dataclass(frozen=True, slots=True)
class Block:
    """`marks`: what lines right before the fence say, such as {"file": "train.py"}."""

    document: str
    line: int
    language: str
    text: str
    marks: dict[str, str]

    @property
    def where(self) -> str:
        return f"{self.document}:{self.line}"

    @property
    def script(self) -> str:
        """Return what to type: the lines after `$` of a console block, all lines of another."""
        if self.language != "console":
            return self.text
        return "\n".join(line[2:] for line in self.text.splitlines() if line.startswith("$ "))

    @property
    def shown(self) -> list[str]:
        """The output a console block promises; `...` stands for what was left out."""
        if self.language != "console":
            return []
        lines = [line for line in self.text.splitlines() if not line.startswith("$ ")]
        return [line for line in lines if line.strip() and line.strip() != "..."]


def every_document() -> list[Path]:
    return [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]


def blocks(document: Path) -> list[Block]:
    return list(_blocks(document))


def check_config(block: Block) -> None:
    """Check a config: a whole experiment must be complete, a part of one sound; a master.yaml is a master's."""
    raw = config.parse_yaml(block.text)
    if block.marks.get("file", "").startswith("master"):
        load_master_config(raw, {"HOME": "/home/nobody"}, {})
        return
    config.check_sane(raw)
    if "searcher" in raw and "entrypoint" in raw:
        storage = {"checkpoint_storage": {"type": "shared_fs", "host_path": "/checkpoints"}}
        config.check_complete(config.apply_defaults({**storage, **raw}, seed=1, name="a"))


def _blocks(document: Path) -> Iterator[Block]:
    marks: dict[str, str] = {}
    inside: tuple[int, str] | None = None
    text: list[str] = []
    for number, line in enumerate(document.read_text().splitlines(), start=1):
        fence = _FENCE.match(line)
        if inside is not None and line != "```":
            text.append(line)
        elif inside is not None:
            yield Block(document.relative_to(ROOT).as_posix(), *inside, "\n".join(text) + "\n", marks)
            inside, text, marks = None, [], {}
        elif fence:
            inside = (number, fence[1])
        elif comment := _COMMENT.match(line):
            marks[comment[1]] = comment[2]
        elif file := _FILE.match(line):
            marks["file"] = file[1]
        elif line.strip():
            marks = {}
