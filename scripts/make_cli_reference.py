"""Writes docs/reference/cli.md from the grammar of `det`. A test compares the file with what this would write."""

import argparse
import importlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from determined.cli.grammar import Arg, Command, Group, OneOf
from determined.cli.main import NOUNS

TARGET = Path(__file__).parents[1] / "docs" / "reference" / "cli.md"

_OPENING = """\
# Command reference

Written by `scripts/make_cli_reference.py` from the grammar of `det`; do not edit. [The guide](../cli.md) explains how
commands, masters, users and output formats go together.

Nouns and commands may be given by alias or by any unique prefix: `det e desc 1` is `det experiment describe 1`.

| Option before the noun | What it does |
|---|---|
| `-m ADDRESS`, `--master ADDRESS` | the master (else `$DET_MASTER`, else this machine's own) |
| `-u USER`, `--user USER` | act as this user |
| `-v`, `--version` | print the version |
| `-h`, `--help` | print the help |
"""


def main() -> int:
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(reference())
    return 0


def reference() -> str:
    """The whole file."""
    return "\n".join([_OPENING, *(line for noun in NOUNS for line in _noun(*noun))])


def _noun(names: tuple[str, ...], about: str, module: str) -> Iterator[str]:
    yield f"## det {names[0]}\n"
    aliases = f" Aliases: {_listed(names[1:])}." if names[1:] else ""
    yield f"About {about}.{aliases}\n"
    tree: Command | Group = importlib.import_module(f"determined.cli.commands.{module}").TREE
    if isinstance(tree, Command):
        yield from _node(tree, "det")
        return
    for child in tree.children:
        yield from _node(child, f"det {names[0]}")


def _node(node: Command | Group, parent: str) -> Iterator[str]:
    program = f"{parent} {node.names[0]}"
    if isinstance(node, Group):
        for child in node.children:
            yield from _node(child, program)
        return
    yield f"### {program}\n"
    yield f"{_sentence(node)}\n"
    rows = [row for item in node.args for row in _rows(item)]
    if rows:
        yield "| Argument | What it is |\n|---|---|"
        yield "\n".join(rows) + "\n"


def _sentence(node: Command) -> str:
    text = f"{node.help[:1].upper()}{node.help[1:]}."
    if node.names[1:]:
        text += f" Alias: {_listed(node.names[1:])}."
    return text + (" Runs when only the noun is given." if node.default else "")


def _rows(item: Arg | OneOf) -> Iterator[str]:
    if isinstance(item, OneOf):
        shown = [each for each in item.args if _is_shown(each)]
        note = f"{'exactly' if item.required else 'at most'} one of {_listed(e.flags[-1] for e in shown)}"
        for each in shown:
            yield _row(each, note if len(shown) > 1 else "")
    elif _is_shown(item):
        yield _row(item, "")


def _row(item: Arg, note: str) -> str:
    words = [text for text in (item.options.get("help") or "", note) if text]
    return f"| {_spelled(item)} | {'; '.join(words).replace('|', chr(92) + '|')} |"


def _spelled(item: Arg) -> str:
    options = item.options
    if not item.flags[0].startswith("-"):
        optional = options.get("nargs") in ("?", "*") or options.get("nargs") is argparse.REMAINDER
        name = options.get("metavar") or item.flags[0]
        many = " ..." if options.get("nargs") in ("+", "*", argparse.REMAINDER) else ""
        return f"`[{name}{many}]`" if optional else f"`{name}{many}`"
    value = _value(item)
    return ", ".join(f"`{flag}{value}`" for flag in item.flags)


def _value(item: Arg) -> str:
    options = item.options
    if options.get("action") in ("store_true", "store_false", "store_const"):
        return ""
    if options.get("choices"):
        return " {" + ",".join(str(c) for c in options["choices"]) + "}"
    name = options.get("metavar") or item.flags[-1].lstrip("-").replace("-", "_").upper()
    return f" {name}"


def _is_shown(item: Arg) -> bool:
    return item.options.get("help") != argparse.SUPPRESS


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    sys.exit(main())
