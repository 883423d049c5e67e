"""The messages that docs/troubleshooting.md quotes for PyTorch trials are those that this room has."""

import ast
import re
from pathlib import Path

import pytest

import determined.pytorch
import determined.trial

DOCUMENT = Path(__file__).parents[3] / "docs" / "troubleshooting.md"
VALUE = "\0"  # in place of what a message is filled with


def _quoted() -> list[str]:
    section = DOCUMENT.read_text().split("## A PyTorch trial fails")[1].split("\n## ")[0]
    rows = [row.split("|")[1] for row in section.splitlines() if row.startswith("| `")]
    return [quoted for row in rows for quoted in re.findall(r"`([^`]+)`", row)]


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) for part in node.values)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.sub(r"%[srd]", VALUE, node.value)
    return VALUE


@pytest.fixture(scope="module")
def messages() -> str:
    rooms = [Path(module.__path__[0]) for module in (determined.pytorch, determined.trial)]
    trees = [ast.parse(file.read_text()) for room in rooms for file in sorted(room.glob("*.py"))]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    return "\n".join(_text(node) for node in nodes if isinstance(node, ast.JoinedStr | ast.Constant))


def test_there_are_messages_to_look_for() -> None:
    assert len(_quoted()) > 25


@pytest.mark.parametrize("quoted", _quoted())
def test_a_quoted_message_is_one_of_ours(quoted: str, messages: str) -> None:
    pattern = "[^\n]*".join(re.escape(part) for part in quoted.split("..."))
    assert re.search(pattern, messages), f"docs/troubleshooting.md quotes {quoted!r}, which nothing says any more"
