"""Writes the table that completion reads, from the grammar of `det`. A test compares the file with what this writes."""

import argparse
import importlib
import json
import sys
from typing import Any

from determined.cli.completion import TABLE
from determined.cli.grammar import FILES, OWN_TASKS, Arg, Command, Group, OneOf
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
        children[names[0]] = {**_node(tree, names[0]), "aliases": list(names[1:]), "help": about}
    return json.dumps({"children": children}, indent=1, sort_keys=True) + "\n"


def _node(node: Command | Group, noun: str) -> dict[str, Any]:
    named: dict[str, Any] = {"aliases": list(node.names[1:]), "help": node.help}
    if isinstance(node, Group):
        return {**named, "children": {child.names[0]: _node(child, noun) for child in node.children}}
    args = [one for item in node.args for one in (item.args if isinstance(item, OneOf) else [item])]
    shown = [one for one in args if one.options.get("help") != argparse.SUPPRESS]
    flags = {name: _flag(one, noun) for one in shown for name in one.flags if name.startswith("-")}
    positional = [_positional(one, noun) for one in shown if not one.flags[0].startswith("-")]
    return {**named, "flags": flags, "positional": positional}


def _flag(one: Arg, noun: str) -> dict[str, Any]:
    takes_value = one.options.get("action") not in _WITHOUT_VALUE
    value = _value(one, noun)
    if takes_value and not any(value.values()):
        value["completes"] = FILES
    return {"help": one.options.get("help", ""), "value": takes_value, **value}


def _positional(one: Arg, noun: str) -> dict[str, Any]:
    return {"name": one.flags[0], **_value(one, noun)}


def _value(one: Arg, noun: str) -> dict[str, Any]:
    """Say what completion offers as its value."""
    return {"choices": _choices(one), "completes": noun if one.completes == OWN_TASKS else one.completes}


def _choices(one: Arg) -> list[str]:
    return [str(choice) for choice in one.options.get("choices") or []]


if __name__ == "__main__":
    sys.exit(main())
