"""Write tests/unit/cli/command_tree.txt, the command line that scripts type, from the grammar of `det`.

Run it when a command is meant to be added or changed: a line that disappears breaks somebody's script.
"""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

from determined.cli.grammar import Arg, Command, Group, OneOf
from determined.cli.main import NOUNS

TARGET = Path(__file__).parents[1] / "tests" / "unit" / "cli" / "command_tree.txt"


def main() -> int:
    TARGET.write_text(reference())
    return 0


def reference() -> str:
    """Return the whole file."""
    trees = (importlib.import_module(f"determined.cli.commands.{module}").TREE for _, _, module in NOUNS)
    return "".join(f"{line}\n" for tree in trees for line in _lines(tree, "det"))


def _lines(node: Command | Group, path: str) -> Iterator[str]:
    name = f"{path} {'|'.join(node.names)}"
    if isinstance(node, Command):
        yield f"{name}{' *' if node.default else ''} :: {' '.join(_item(i) for i in node.args)}".rstrip(" :")
        return
    for child in node.children:
        yield from _lines(child, name)


def _item(item: Arg | OneOf) -> str:
    if isinstance(item, OneOf):
        return f"MX({' | '.join(_item(a) for a in item.args)})" + ("!" if item.required else "")
    shown = ",".join(item.flags)
    if item.options.get("action") == "append":
        shown += "+"
    if "nargs" in item.options:
        shown += str(item.options["nargs"])
    return shown + ("!" if item.options.get("required") else "")


if __name__ == "__main__":
    sys.exit(main())
