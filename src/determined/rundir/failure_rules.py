"""Known errors and ends of tasks: the likely cause of each, and what to do."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from determined._removed_names import removed_name
from determined.rundir.distribution_names import distribution_of

WORKDIR = "/workdir/"  # a run directory's copy of what the user submitted
# The index has upstream's releases under these names: never advise to install or pin them.
_OURS = frozenset(["determined", "determined_common", "redetermined"])


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Facts about the task, as far as they are known.

    Attributes:
        python: its interpreter.
        own: modules at the top of the submitted directory.
    """

    python: str | None = None
    own: frozenset[str] = frozenset()

    @property
    def environment(self) -> str:
        if self.python:
            return f"{self.python}, which runs the task"
        return "the environment that is active when you submit"


Explanation = tuple[str, str]  # likely cause, advice
_Rule = tuple[re.Pattern[str], Callable[[re.Match[str], Circumstances], Explanation]]


def explain_error(error: str, circumstances: Circumstances) -> Explanation | None:
    """Explain the line of an exception."""
    removed = removed_name(error)
    if removed is not None:
        return removed.likely(), removed.advice()
    return _explain(error, circumstances, _EXCEPTIONS)


def explain_end(ended: str, circumstances: Circumstances) -> Explanation | None:
    """Explain an end in the platform's own words."""
    return _explain(ended, circumstances, _ENDS)


def missing_module(name: str, circumstances: Circumstances) -> Explanation:
    top, is_part, _ = name.partition(".")
    if is_part:  # Python names the outermost that it lacks
        return _missing_part(name, top, circumstances)
    likely = f"the Python that ran the task has no module '{name}'"
    if name in _OURS:
        return (
            likely,
            "start the script with `python3`, which has it, or install this project's wheel or checkout in that Python;"
            " the package `determined` of the index is upstream's and does not work here",
        )
    wanted = distribution_of(name)
    return (
        likely,
        f"install {wanted} in {circumstances.environment}, name it in environment.python, or write"
        f" `pip install {wanted}` into startup-hook.sh beside your code",
    )


def _missing_part(name: str, top: str, circumstances: Circumstances) -> Explanation:
    if top in _OURS:
        return _missing_of_ours(name)
    if top in circumstances.own:
        return (
            f"'{top}' is your own, in the submitted directory, and has no '{name}'",
            "correct the import, or add the file; .detignore may leave it out",
        )
    return (
        f"'{top}' is installed, in a version that has no '{name}'",
        f"change the import, or pin in environment.python the version of {top} that your code was written for",
    )


def _missing_name(match: re.Match[str], circumstances: Circumstances) -> Explanation:
    name, module, path = match[1], match[2], match[3] or ""
    top, own = module.partition(".")[0], path.partition(WORKDIR)[2]
    if top in _OURS:
        return _missing_of_ours(f"{module}.{name}")
    if (own and "site-packages" not in own) or top in circumstances.own:
        place = own or f"'{module}'"
        return f"{place} is your own, and defines no '{name}'", f"correct the import, or define the name in {place}"
    return (
        f"'{top}' is installed, in a version that has no '{name}' in '{module}'",
        f"change the import, or pin in environment.python the version of {top} that your code was written for",
    )


def _missing_of_ours(name: str) -> Explanation:
    return (
        f"this release of determined has no '{name}'",
        "change the import; the page 'Coming from upstream' of the guide says what differs",
    )


def _missing_file(match: re.Match[str], _: Circumstances) -> Explanation:
    if (match[1] or "").startswith("/"):
        return (
            f"{match[1]} does not exist on the node where the task ran",
            "correct the path, or put the data where that node sees it",
        )
    return (
        "the path does not exist where the task runs, which is a fresh copy of the submitted directory",
        "put the file into that directory (and not into .detignore), or use an absolute path or bind_mounts",
    )


def _fixed(likely: str, advice: str) -> Callable[[re.Match[str], Circumstances], Explanation]:
    return lambda _, __: (likely, advice)


_ACCELERATOR_MEMORY = _fixed(
    "the model and its batch do not fit into the memory of the accelerator", "lower the batch size, or compute in bf16"
)
_LESS_MEMORY = "lower the batch size or the number of data loader workers, or give the task more memory"
_KILLED = _fixed("the process was killed, mostly for lack of memory on the host", _LESS_MEMORY)
_CRASH_ADVICE = (
    "set PYTHONFAULTHANDLER=1 in environment.environment_variables and run it again: the log then shows the line of"
    " your code that called the library; change or reinstall that"
)

# By the exception's type, at the start of a line: its text is the user's and may say anything.
_EXCEPTIONS: tuple[_Rule, ...] = (
    (re.compile(r"^ModuleNotFoundError: No module named '([^']+)'"), lambda m, c: missing_module(m[1], c)),
    (re.compile(r"^ImportError: cannot import name '([^']+)' from '([^']+)'(?: \((.+)\))?"), _missing_name),
    (re.compile(r"^FileNotFoundError(?:[^'\n]*'([^'\n]{1,500})')?"), _missing_file),
    (re.compile(r"^[\w.]*OutOfMemoryError|^RuntimeError: .*out of memory"), _ACCELERATOR_MEMORY),
    (re.compile(r"^[\w.]*MemoryError"), _fixed("the host did not give Python the memory it asked for", _LESS_MEMORY)),
    (re.compile(r"^(OSError|RuntimeError): .*No space left on device"), _fixed(
        "a disk is full", "free space there, or write to another disk")),
    (re.compile(r"^(SyntaxError|IndentationError|TabError)"), _fixed(
        "Python cannot read this line", "correct it; `python3 -m py_compile FILE` checks a file without running it")),
)  # fmt: skip

# By the platform's own words for an end. What has advice in it already (checkpoint storage) needs none here.
_ENDS: tuple[_Rule, ...] = (
    (re.compile(r"^(?:.*: )?the entrypoint was not found|^the entrypoint exited with status 127"), _fixed(
        "a program that `entrypoint` or its script names is not installed where the task runs",
        "correct the name, or submit from the environment that has the program")),
    (re.compile(r"^(?:.*: )?the entrypoint cannot be executed|^the entrypoint exited with status 126"), _fixed(
        "the program that `entrypoint` names cannot be executed",
        "make it executable (chmod +x), or put its interpreter in front")),
    (re.compile(r"^the entrypoint was ended by SIGKILL"), _KILLED),
    (re.compile(r"^the entrypoint was ended by SIGSEGV"), _fixed(
        "native code, of a library or an extension module, used memory that is not its own", _CRASH_ADVICE)),
    (re.compile(r"^the entrypoint was ended by SIGABRT"), _fixed(
        "native code, of a library or an extension module, found an error and ended the process", _CRASH_ADVICE)),
    (re.compile(r"^the entrypoint was ended by SIGBUS"), _fixed(
        "a file that is mapped into memory could not be used; often /dev/shm or a disk is full",
        "raise resources.shm_size or free the disk, or lower num_workers of the data loaders")),
    (re.compile(r"^the entrypoint was ended by SIGILL"), _fixed(
        "a library uses instructions that the CPU of this node lacks",
        "install a build of the library for this CPU, or run on another node")),
    (re.compile(r"^out of memory on the host"), _KILLED),
    (re.compile(r"^out of memory on the accelerator"), _ACCELERATOR_MEMORY),
    (re.compile(r"^a startup hook failed"), _fixed(
        "a command in startup-hook.sh failed; the log shows its last words",
        "run `bash -ex startup-hook.sh` by hand, and correct the command that ends it")),
)  # fmt: skip


def _explain(text: str, circumstances: Circumstances, rules: Iterable[_Rule]) -> Explanation | None:
    for pattern, explain in rules:
        if match := pattern.search(text):
            return explain(match, circumstances)
    return None
