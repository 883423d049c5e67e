"""`det`: reads global options, finds the command, runs it, turns errors into one red line and an exit status.

Status: 0 done, 1 failed, 2 the command line is wrong, 3 interrupted.
"""

import argparse
import importlib
import io
import sys
from collections.abc import Sequence

from determined._version import __version__
from determined.cli import environment
from determined.cli.grammar import Command, Group, UnknownWord, parser_for, resolve, select

# name and aliases, what it is about, module under determined.cli.commands that holds TREE
NOUNS: list[tuple[tuple[str, ...], str, str]] = [
    (("agent", "a"), "machines of the cluster", "agent"),
    (("checkpoint", "c"), "saved checkpoints", "checkpoint"),
    (("command", "cmd"), "programs that run once on the cluster", "command"),
    (("completion",), "completion of words in bash, zsh and fish", "completion"),
    (("config",), "config files: their JSON schema, for editors", "config"),
    (("deploy", "d"), "start and stop a cluster", "deploy"),
    (("dev",), "talk to the REST API by hand", "dev"),
    (("environment", "env"), "Python environments of tasks on this machine", "environment"),
    (("experiment", "e", "exp"), "experiments", "experiment"),
    (("job", "j"), "the job queue", "job"),
    (("master",), "the master: information, logs, the embedded one", "master"),
    (("model", "m"), "the model registry: models, versions, aliases", "model"),
    (("notebook",), "JupyterLab on the cluster", "notebook"),
    (("open",), "the web page, signed in", "open_page"),
    (("preview-search",), "what the search of a config would cost", "preview_search"),
    (("project", "p"), "projects of a workspace", "project"),
    (("resource-pool", "rp"), "resource pools", "resource_pool"),
    (("resources", "res"), "past use of the cluster", "resources"),
    (("run",), "track a program that runs on this machine", "run"),
    (("shell",), "shells on the cluster, by ssh", "shell"),
    (("slot", "s"), "slots (GPUs or CPUs) of agents", "slot"),
    (("task",), "running tasks and their logs", "task"),
    (("template", "tpl"), "parts of configs that experiments and tasks share", "template"),
    (("tensorboard", "tb"), "TensorBoard of experiments and trials", "tensorboard"),
    (("token", "tkn"), "access tokens", "token"),
    (("trial", "t"), "trials of an experiment", "trial"),
    (("user", "u"), "users and logging in", "user"),
    (("version",), "versions of this command and of the master", "version"),
    (("webhook",), "messages to other services when something happens", "webhook"),
    (("workspace", "w"), "workspaces", "workspace"),
]

# Words that people try first, and what they mean here.
_MEANT = {
    "auth": "det user login NAME",
    "login": "det user login NAME",
    "logout": "det user logout",
    "passwd": "det user change-password",
    "whoami": "det user whoami",
    "rbac": "det user edit NAME --admin true (there are users and administrators, no other roles)",
    "ui": "det open",
    "logs": "det trial logs ID, det experiment logs ID or det master logs",
    "create": "det experiment create CONFIG_FILE MODEL_DIR",
    "list": "det experiment list",
    "ls": "det experiment list",
}
# The same of verbs, by their noun.
_VERBS_MEANT = {
    ("checkpoint", "list"): "det experiment list-checkpoints EXPERIMENT_ID",
    ("checkpoint", "ls"): "det experiment list-checkpoints EXPERIMENT_ID",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the `det` script."""
    words = list(sys.argv[1:] if argv is None else argv)
    _accept_any_text()
    try:
        return _run_and_flush(words)
    except UnknownWord as e:
        print(f"det: error: {e}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as e:
        if not getattr(e, "is_answered", False):
            print("Interrupting...", file=sys.stderr)
        return 3
    except BrokenPipeError:
        return _quiet_exit()
    except OSError as e:
        print(f"det: error: cannot write the output: {e}", file=sys.stderr)
        _quiet_exit()
        return 1


def _run_and_flush(words: list[str]) -> int:
    try:
        return _run(words)
    finally:
        if sys.stdout is not None:  # it is None where the shell has closed it
            sys.stdout.flush()  # left to the interpreter's exit, a failure would be told with status 120


def _run(words: list[str]) -> int:
    if words[:1] == ["__complete"]:  # what completion scripts call
        from determined.cli import completion

        print(completion.answer(words[1:]), end="")
        return 0
    leading = _leading_options(words)
    rest = words[len(leading) :]
    parser = _global_parser()
    options = parser.parse_args(leading)
    if options.version:
        print(f"det {__version__}")
        return 0
    if not rest or rest[0] in {"help", "-h", "--help"}:
        parser.print_help()
        return 0
    if rest[0] in _MEANT:
        raise UnknownWord(f"there is no 'det {rest[0]}'; did you mean: {_MEANT[rest[0]]}?")
    names = resolve(rest[0], [n for n, _, _ in NOUNS], "det")
    module = next(m for n, _, m in NOUNS if n == names)
    tree = importlib.import_module(f"determined.cli.commands.{module}").TREE
    return _run_noun(tree, rest[1:], names[0], options)


def _run_noun(tree: Command | Group, words: list[str], noun: str, options: argparse.Namespace) -> int:
    if (meant := _VERBS_MEANT.get((noun, "".join(words[:1])))) is not None:
        raise UnknownWord(f"there is no 'det {noun} {words[0]}'; did you mean: {meant}?")
    node, left, program = select(tree, words, f"det {noun}")
    parser = parser_for(node, program)
    if isinstance(node, Group):
        parser.parse_args([w for w in left if w not in {"-h", "--help"}])
        parser.print_help()
        return 0
    args = parser.parse_known_args(left)[0] if node.lenient else parser.parse_args(left)
    args.master, args.user_override = options.master, options.user
    return _guarded(node.help, lambda: node.run(args))


def _guarded(doing: str, run: "environment.Action") -> int:
    from determined.errors import DeterminedError

    try:
        return run() or 0
    except BrokenPipeError:
        raise
    except (DeterminedError, OSError, ValueError) as e:
        return _failed(doing, e)
    except Exception as e:  # noqa: BLE001 - the edge of the process: a fault of ours, told with its traceback
        return _failed(doing, e, unexpected=True)


def _failed(doing: str, error: Exception, *, unexpected: bool = False) -> int:
    from determined.cli.render import fail, raw

    if unexpected or environment.debug():
        import traceback

        raw(traceback.format_exc(), file=sys.stderr)
    fail(f"Failed to {doing}: {_describe(error)}")
    return int(getattr(error, "exit_status", 1))


def _describe(error: Exception) -> str:
    from determined.errors import Forbidden

    said = str(error) or type(error).__name__
    if isinstance(error, Forbidden) and "administrator" in said:
        return f"{said}. On a master of your own: det -u admin ..."
    return said


def _leading_options(words: list[str]) -> list[str]:
    """Global options stand before the noun only."""
    taken = 0
    while taken < len(words) and words[taken].startswith("-") and words[taken] not in {"-h", "--help"}:
        has_value = words[taken] in {"-m", "--master", "-u", "--user"}
        taken += 2 if has_value else 1
    return words[: min(taken, len(words))]


def _global_parser() -> argparse.ArgumentParser:
    lines = [f"  {n[0] + (f' ({n[1]})' if len(n) > 1 else ''):<24}{about}" for n, about, _ in NOUNS]
    parser = argparse.ArgumentParser(
        prog="det",
        usage="det [-m MASTER] [-u USER] COMMAND ...",
        description="Train models on a Determined cluster, or on this machine with none.",
        epilog="commands:\n" + "\n".join(lines) + "\n\nBegin with: det e create config.yaml . -f",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
    )
    parser.add_argument("-u", "--user", metavar="USER", help="act as this user")
    parser.add_argument(
        "-m", "--master", metavar="ADDRESS", help="the master (else $DET_MASTER, else this machine's own)"
    )
    parser.add_argument("-v", "--version", action="store_true", help="print the version")
    parser.add_argument("-h", "--help", action="help", help="print this help")
    return parser


def _accept_any_text() -> None:
    """Escape what the output's encoding lacks: a name that another user chose must not end a command."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _quiet_exit() -> int:
    """Leave quietly when the reader of a pipe left (`det e ls | head`): stdout must not be flushed again."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())
