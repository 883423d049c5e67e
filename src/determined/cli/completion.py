"""Completion of a `det` command line, from a table of the grammar: no command is imported.

The shells' scripts (completion_scripts.py) call `det __complete WORD...`; the last word is the one at the cursor. Each
line of the answer is a word, a tab and what it does; `:files` stands for the shell's own completion of paths.
"""

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from determined.cli.grammar import FILES

if TYPE_CHECKING:
    from determined.api.session import Session

TABLE = Path(__file__).with_name("completion_table.json")
_SECONDS = 2.0  # a master that does not answer by then has no numbers to offer
_WITH_VALUE = {"-m": "master", "--master": "master", "-u": "user", "--user": "user"}
_GLOBAL = (*_WITH_VALUE, "-v", "--version", "-h")
_OFFERED = 20
_PLAIN = re.compile(r"\w[\w.:/@%+,=-]*")  # no shell gives these a meaning of their own, and no option begins so

Ids = Callable[[str], Iterable[tuple[str, str]]]


def answer(words: list[str]) -> str:
    """Return the lines for the words of a command line."""
    table = json.loads(TABLE.read_text())
    options, _ = _leading_options(words[:-1])
    words_to_offer = candidates(words, table, lambda noun: ids(noun, options))
    return "".join(f"{word}\t{about}\n" if about else f"{word}\n" for word, about in words_to_offer)


def candidates(words: list[str], table: dict[str, Any], numbers: Ids) -> list[tuple[str, str]]:
    """(word, what it does) of everything that fits the last word."""
    *before, prefix = words or [""]
    typed = _leading_options(before)[1]
    node, left = _walk(typed, table)
    words_to_offer = _at_command(node, left, prefix, numbers) if "flags" in node else _at_group(node, prefix)
    return [(word, about) for word, about in words_to_offer if word.startswith(prefix) or word == FILES]


def ids(noun: str, options: dict[str, str]) -> list[tuple[str, str]]:
    """Return the newest experiments, trials, models or tasks, or the templates; none where no master answers at once.

    Names that a shell would not take as they are, are left out: other users chose them.
    `options`: master and user, where the command line names them.
    """
    import argparse
    import signal

    from determined.cli import task_ids
    from determined.cli.connection import connect
    from determined.errors import DeterminedError

    signal.setitimer(signal.ITIMER_REAL, _SECONDS)  # ends this process: its answer is then empty
    try:
        session = connect(argparse.Namespace(master=options.get("master"), user_override=options.get("user")))
        found = NEWEST[noun](session) if noun in NEWEST else task_ids.newest(session, noun, _OFFERED)
    except (DeterminedError, OSError, ValueError):
        return []
    return [(word, _one_line(about)) for word, about in found if _PLAIN.fullmatch(word)]


def _one_line(text: str) -> str:
    """Return `text` without line breaks and without what a terminal obeys: any user may have written it."""
    return "".join(letter for letter in " ".join(text.split()) if letter.isprintable())


def _templates(session: "Session") -> list[tuple[str, str]]:
    from determined.api import template
    from determined.wire.template import ListTemplates

    return [(one.name, "") for one in template.iterate(session, ListTemplates(limit=200))]


def _newest_experiments(session: "Session", number: int = _OFFERED) -> list[tuple[str, str]]:
    from determined.api import experiment
    from determined.wire.base import OrderBy
    from determined.wire.experiment import ListExperiments

    params = ListExperiments(limit=number, order_by=OrderBy.DESC)
    return [(str(e.id), e.name) for e in experiment.iterate(session, params, all_pages=False)]


def _newest_trials(session: "Session") -> list[tuple[str, str]]:
    from determined.api import experiment
    from determined.wire.base import OrderBy
    from determined.wire.experiment import ListTrials

    params = ListTrials(limit=_OFFERED, order_by=OrderBy.DESC)
    trials = [
        (trial.id, name)
        for number, name in _newest_experiments(session, 5)
        for trial in experiment.trials(session, int(number), params, all_pages=False)
    ]
    return [(str(number), name) for number, name in sorted(trials, reverse=True)[:_OFFERED]]


def _newest_models(session: "Session") -> list[tuple[str, str]]:
    from determined.api import model
    from determined.wire.base import OrderBy
    from determined.wire.model import GetModelsRequestSortBy, ListModels

    params = ListModels(limit=_OFFERED, sort_by=GetModelsRequestSortBy.LAST_UPDATED_TIME, order_by=OrderBy.DESC)
    models = model.iterate(session, params, all_pages=False)
    return [(m.name, m.description or "") for m in models]


NEWEST = {
    "experiment": _newest_experiments,
    "trial": _newest_trials,
    "model": _newest_models,
    "template": _templates,
}


def _leading_options(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """Return the values of the options that stand before the noun, and the words from the noun on."""
    options: dict[str, str] = {}
    while words and (name := words[0].partition("=")[0]) in _GLOBAL:
        is_apart = name in _WITH_VALUE and "=" not in words[0]
        if name in _WITH_VALUE:
            options[_WITH_VALUE[name]] = "".join(words[1:2]) if is_apart else words[0].partition("=")[2]
        words = words[2 if is_apart else 1 :]
    return options, words


def _walk(words: list[str], node: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Follow `words` into the tree as far as they name commands: the node, and the words behind it."""
    while words and "flags" not in node:
        names = node["children"]
        matching = [name for name, child in names.items() if words[0] == name or words[0] in child["aliases"]]
        matching = matching or [name for name in names if name.startswith(words[0])]
        if len(matching) != 1:
            return {"children": {}}, []
        node, words = names[matching[0]], words[1:]
    return node, words


def _at_group(node: dict[str, Any], prefix: str) -> list[tuple[str, str]]:
    if prefix.startswith("-"):
        return [(flag, "") for flag in (*_GLOBAL, "--help")] if "aliases" not in node else [("--help", "")]
    return [(name, child["help"]) for name, child in node["children"].items()]


def _at_command(node: dict[str, Any], left: list[str], prefix: str, numbers: Ids) -> list[tuple[str, str]]:
    flag = node["flags"].get(left[-1]) if left else None
    if flag is not None and flag["value"]:
        return _completed(flag, numbers)
    if prefix.startswith("-"):
        return [*((name, one["help"]) for name, one in node["flags"].items()), ("--help", "print the help")]
    positional = _positional(node, left)
    return [] if positional is None else _completed(positional, numbers)


def _completed(argument: dict[str, Any], numbers: Ids) -> list[tuple[str, str]]:
    """Return what may be the value of an argument or of a flag, as its command declares it."""
    completes = argument["completes"]
    if completes == FILES:
        return [(FILES, "")]
    return list(numbers(completes)) if completes else [(choice, "") for choice in argument["choices"]]


def _positional(node: dict[str, Any], left: list[str]) -> dict[str, Any] | None:
    """Return the argument without a flag that the cursor is at."""
    given, is_value = 0, False
    for word in left:
        flag = node["flags"].get(word)
        given += not is_value and flag is None and not word.startswith("-")  # `--limit=5` is one word
        is_value = flag is not None and flag["value"]
    listed: list[dict[str, Any]] = node["positional"]
    return listed[given] if given < len(listed) else None
