"""The shape of the command line as data: groups, commands, arguments; and how words become one command.

Nouns are declared in main.py with the module that holds them, so `det --help` imports none of them. Names may be
given by alias (`e`, `ls`) or by any unique prefix (`exp`, `desc`).
"""

import argparse
import importlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from determined.errors import DeterminedError

_UNRECOGNIZED = "unrecognized arguments: "
_NOT_A_NUMBER = re.compile(r"argument (\S+): invalid (int|float) value: ('.*')$")
_NUMBERS = {"int": "a whole number", "float": "a number"}

# What completion offers for an argument besides things of a noun that the master lists ("experiment").
FILES = ":files"
OWN_TASKS = ":own-tasks"  # tasks of the noun that the command belongs to

Run = Callable[[argparse.Namespace], int | None]


@dataclass(frozen=True, slots=True)
class Arg:
    flags: tuple[str, ...]
    options: dict[str, Any]
    completes: str = (
        ""  # a noun, FILES or OWN_TASKS; without one a positional argument has nothing, a flag's value files
    )


@dataclass(frozen=True, slots=True)
class OneOf:
    """Arguments of which at most one may be given."""

    args: tuple[Arg, ...]
    required: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """`names`: the name and its aliases. `help` completes "Failed to <help>", so it opens with a verb."""

    names: tuple[str, ...]
    help: str
    run: Run
    args: Sequence[Arg | OneOf] = ()
    default: bool = False  # runs when its group is named alone
    epilog: str | None = None  # printed under the help
    lenient: bool = False  # takes options it does not know, for a command that only explains itself


@dataclass(frozen=True, slots=True)
class Deferred:
    """A command or group that is imported when it is chosen; names and help are told without.

    `home`: module below determined.cli.commands and name in it, `experiment_create:COMMAND`.
    """

    names: tuple[str, ...]
    help: str
    home: str
    default: bool = False

    def load(self) -> "Command | Group":
        module, _, name = self.home.partition(":")
        node: Command | Group = getattr(importlib.import_module(f"determined.cli.commands.{module}"), name)
        return node


@dataclass(frozen=True, slots=True)
class Group:
    names: tuple[str, ...]
    help: str
    entries: Sequence["Command | Group | Deferred"] = field(default_factory=tuple)
    # options that may stand before the child and change nothing here: name -> whether a value follows
    ignored: dict[str, bool] = field(default_factory=dict)

    @property
    def children(self) -> Sequence["Command | Group"]:
        """Import and return the entries."""
        return [_loaded(entry) for entry in self.entries]


def arg(*flags: str, completes: str = "", **options: Any) -> Arg:
    return Arg(flags, options, completes)


def one_of(*args: Arg, required: bool = False) -> OneOf:
    return OneOf(args, required)


def command(
    names: str, help: str, run: Run, *args: Arg | OneOf, default: bool = False, epilog: str | None = None
) -> Command:
    return Command(tuple(names.split()), help, run, args, default, epilog)


def truth(text: str) -> bool:
    """Return the type of an argument that is true or false."""
    if text.lower() in {"true", "yes", "1"}:
        return True
    if text.lower() in {"false", "no", "0"}:
        return False
    raise argparse.ArgumentTypeError(f"{text!r} is not true or false")


def count(text: str) -> int:
    """Return the type of an argument that says how many: a whole number from 1 on."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return int(text)


def seconds(text: str) -> float:
    """Return the type of an argument that is a time to wait."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds from 0 on")
    return value


def deferred(names: str, help: str, home: str, *, default: bool = False) -> Deferred:
    return Deferred(tuple(names.split()), help, home, default)


def group(names: str, help: str, *entries: Command | Group | Deferred, ignored: dict[str, bool] | None = None) -> Group:
    return Group(tuple(names.split()), help, entries, ignored or {})


class UsageError(DeterminedError):
    """A command line that its parser cannot refuse by itself."""

    code = "usage"
    exit_status = 2


class UnknownWord(Exception):
    """No or several commands match a word; the message lists what may be typed."""


def resolve(word: str, candidates: Sequence[tuple[str, ...]], where: str) -> tuple[str, ...]:
    """Return the names that `word` means: exact name or alias first, else the only name it is a prefix of."""
    for names in candidates:
        if word in names:
            return names
    matches = [names for names in candidates if names[0].startswith(word)]
    if len(matches) == 1:
        return matches[0]
    listed = ", ".join(names[0] for names in (matches or candidates))
    kind = "ambiguous" if matches else "unknown"
    meant = "" if matches else _did_you_mean([f"{where} {n}" for n in _meant(word, [n for c in candidates for n in c])])
    raise UnknownWord(f"{kind} command '{where} {word}';{meant} choose from: {listed}")


# Verbs of other tools, and those of ours that do the same.
_SYNONYMS = {
    "add": ("create",),
    "export": ("download",),
    "get": ("describe", "list"),
    "info": ("describe",),
    "new": ("create",),
    "remove": ("delete",),
    "rename": ("edit", "set"),
    "resume": ("activate",),
    "run": ("create",),
    "show": ("describe", "list"),
    "start": ("create",),
    "stop": ("cancel", "kill"),
    "submit": ("create",),
    "unpause": ("activate",),
}


def _meant(word: str, candidates: Sequence[str]) -> list[str]:
    return [name for name in _SYNONYMS.get(word, ()) if name in candidates] or close(word, candidates)


def close(word: str, candidates: Sequence[str]) -> list[str]:
    """Return those that `word` may be a mistyped form of, best first."""
    import difflib

    return difflib.get_close_matches(word, [c for c in candidates if len(c) > 2], n=1, cutoff=0.6)


def _did_you_mean(candidates: Sequence[str]) -> str:
    return f" did you mean '{candidates[0]}'?" if candidates else ""


class _Parser(argparse.ArgumentParser):
    """Refuses with what may be meant."""

    def error(self, message: str) -> NoReturn:
        if message.startswith(_UNRECOGNIZED):
            flags = [flag for action in self._actions for flag in action.option_strings]
            words = message.removeprefix(_UNRECOGNIZED).split()
            candidates = [c for word in words if word.startswith("-") for c in close(word.partition("=")[0], flags)]
            is_of_program = any(action.metavar == "PROGRAM" for action in self._actions) and words[0].startswith("-")
            if is_of_program and set(candidates) <= {"--help"}:
                message = (
                    f"{words[0]} is no option of {self.prog}; options of the program stand behind it: "
                    f"{self.prog} python train.py {words[0]} ..."
                )
            elif candidates:
                message += f";{_did_you_mean(candidates)}"
        super().error(_NOT_A_NUMBER.sub(lambda m: f"{m[1]}: {m[3]} is not {_NUMBERS[m[2]]}", message))


def select(tree: Command | Group, words: list[str], program: str) -> tuple[Command | Group, list[str], str]:
    """Walk `words` into `tree`: the command (or a group without a default), the words left, what was typed."""
    node = tree
    while isinstance(node, Group):
        words = _without(node.ignored, words)
        if not words or words[0].startswith("-"):
            default = next((e for e in node.entries if not isinstance(e, Group) and e.default), None)
            asks_help = bool(words) and words[0] in {"-h", "--help"}
            if default is None or asks_help:
                return node, words, program
            return _loaded(default), words, program
        if words[0] == "help":
            return node, ["--help"], program
        names = resolve(words[0], [e.names for e in node.entries], program)
        node = _loaded(next(e for e in node.entries if e.names == names))
        words, program = words[1:], f"{program} {names[0]}"
    return node, words, program


def parser_for(node: Command | Group, program: str) -> argparse.ArgumentParser:
    text = node.help[:1].upper() + node.help[1:]
    if isinstance(node, Group):
        lines = [f"  {_title(e.names):<28}{e.help}" for e in node.entries]
        return _Parser(
            prog=program,
            usage=f"{program} COMMAND ...",
            description=text,
            epilog="commands:\n" + "\n".join(lines),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
    parser = _Parser(
        prog=program,
        description=text,
        epilog=node.epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for item in node.args:
        if isinstance(item, Arg):
            parser.add_argument(*item.flags, **item.options)
            continue
        exclusive = parser.add_mutually_exclusive_group(required=item.required)
        for each in item.args:
            exclusive.add_argument(*each.flags, **each.options)
    return parser


def _loaded(entry: Command | Group | Deferred) -> Command | Group:
    return entry.load() if isinstance(entry, Deferred) else entry


def _without(ignored: dict[str, bool], words: list[str]) -> list[str]:
    """`words` from the first that is not an ignored option."""
    while words and (name := words[0].partition("=")[0]) in ignored:
        takes_next = ignored[name] and "=" not in words[0]
        words = words[2 if takes_next else 1 :]
    return words


def _title(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} ({', '.join(names[1:])})"
