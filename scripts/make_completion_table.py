"""Writes the table that completion reads, from the grammar of `det`. A test compares the file with what this writes."""

import argparse
import importlib
import json
import sys
from typing import Any

from determined.cli.completion import TABLE
from determined.cli.grammar import Arg, Command, Group, OneOf
from determined.cli.main import NOUNS

TARGET = TABLE
_WITHOUT_VALUE = {"store_true", "store_false", "store_const", "help"}


def main() -> int:
    TARGET.write_text(reference())
    return 0


def reference() -> str:
    """The whole file."""
    children = {}
    for names, about, module in NOUNS:
        tree = importlib.import_module(f"determined.cli.commands.{module}").TREE
        children[names[0]] = {**_node(tree), "aliases": list(names[1:]), "help": about}
    return json.dumps({"children": children}, indent=1, sort_keys=True) + "\n"


def _node(node: Command | Group) -> dict[str, Any]:
    named: dict[str, Any] = {"aliases": list(node.names[1:]), "help": node.help}
    if isinstance(node, Group):
        return {**named, "children": {child.names[0]: _node(child) for child in node.children}}
    args = [one for item in node.args for one in (item.args if isinstance(item, OneOf) else [item])]
    shown = [one for one in args if one.options.get("help") != argparse.SUPPRESS]
    flags = {name: _flag(one) for one in shown for name in one.flags if name.startswith("-")}
    return {**named, "flags": flags, "positional": [_positional(a) for a in shown if not a.flags[0].startswith("-")]}


def _flag(one: Arg) -> dict[str, Any]:
    takes_value = one.options.get("action") not in _WITHOUT_VALUE
    return {"help": one.options.get("help", ""), "value": takes_value, "choices": _choices(one)}


def _positional(one: Arg) -> dict[str, Any]:
    return {"name": one.flags[0], "choices": _choices(one)}


def _choices(one: Arg) -> list[str]:
    return [str(choice) for choice in one.options.get("choices") or []]


if __name__ == "__main__":
    sys.exit(main())
