"""The size, naming and environment rules of the house, checked on every source file."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "determined"
TESTS = ROOT / "tests"
SCRIPTS = ("benchmarks", "examples", "scripts")

MAX_FILE = 400
LONG_FILES = {"tests/integration/importing/upstream_filler.py"}  # rows of every table of upstream's
MAX_FUNCTION = 50
MAX_NESTING = 3
HANG_SECONDS = 30

# Files that may read the process environment: one per process role.
ENVIRONMENT_READERS = {
    "_info.py",
    "api/environment.py",
    "cli/environment.py",
    "deploy/environment.py",
    "engines/host/environment.py",  # what runners of other users may have of it
    "engines/remote/environment.py",
    "estimator/_parallel.py",
    "exec/runner/environment.py",
    "exec/runner/task_site.py",  # in every Python of a task, before its own code
    "exec/service_program.py",  # of a notebook or TensorBoard
    "core/_environment.py",
    "launch/environment.py",
    "master/main.py",
    "keras/_parallel.py",
    "pytorch/_parallel.py",
    "pytorch/deepspeed/_backend.py",
}

# First words of a docstring that leave its subject to be guessed.
WRONG_BEGINNINGS = {
    "What",
    "Whether",
    "How",
    "Who",
    "Which",
    "Where",
    "When",
    "Why",
    "Its",
    "It",
    "As",
    "That",
    "This",
    "They",
    "One",
    "Each",
    "All",
    "Every",
    "Without",
    "By",
    "Of",
    "Their",
}
FORBIDDEN_NAMES = {"utils", "helpers", "common", "misc", "manager2"}
# Upstream import paths that users' code has: one-line re-exports.
ALIASES = {"common", "util.py", "launcher", "lightning", "_core", "_generic"}


def _sources() -> list[Path]:
    return sorted(p for p in SOURCE.rglob("*.py") if "migrations" not in p.parts)


def _name(path: Path) -> str:
    return path.relative_to(SOURCE if path.is_relative_to(SOURCE) else ROOT).as_posix()


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _body_length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of the body without its docstring: signatures and docs may be as long as they need."""
    body = node.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1:
        body = body[1:]
    return (node.end_lineno or 0) - body[0].lineno + 1


def _nesting(node: ast.AST, depth: int = 0) -> int:
    blocks = ast.If | ast.For | ast.While | ast.With | ast.Try | ast.AsyncFor | ast.AsyncWith
    deepest = depth
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        is_elif = isinstance(node, ast.If) and isinstance(child, ast.If) and child in node.orelse
        step = 1 if isinstance(child, blocks) and not is_elif else 0
        deepest = max(deepest, _nesting(child, depth + step))
    return deepest


def test_files_stay_short() -> None:
    files = [*_sources(), *TESTS.rglob("*.py")]
    long = {path.relative_to(ROOT).as_posix(): n for path in files if (n := _length(path)) > MAX_FILE}
    assert long.keys() == LONG_FILES, (
        f"files past {MAX_FILE} lines want a second noun or an I/O shell split off: {long}"
    )


def _length(path: Path) -> int:
    return len(path.read_text().splitlines())


def test_functions_stay_short() -> None:
    long = [
        f"{_name(p)}:{f.lineno} {f.name} ({n} lines)"
        for p in _sources()
        for f in _functions(ast.parse(p.read_text()))
        if (n := _body_length(f)) > MAX_FUNCTION
    ]
    assert not long, "\n".join(long)


def test_functions_nest_at_most_three_deep() -> None:
    deep = [
        f"{_name(p)}:{f.lineno} {f.name} ({n} deep)"
        for p in _sources()
        for f in _functions(ast.parse(p.read_text()))
        if (n := _nesting(f)) > MAX_NESTING
    ]
    assert not deep, "\n".join(deep)


def test_docstrings_begin_with_a_verb_or_name_the_thing() -> None:
    wrong = [
        f"{_name(p)}:{getattr(node, 'lineno', 1)}: {text.splitlines()[0]}"
        for p in [*_sources(), *(path for folder in SCRIPTS for path in (ROOT / folder).rglob("*.py"))]
        for node in ast.walk(ast.parse(p.read_text()))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and (text := ast.get_docstring(node))
        and text.split()[0] in WRONG_BEGINNINGS
    ]
    assert not wrong, "begin with a verb, or name the thing:\n" + "\n".join(wrong)


def test_every_file_says_what_lives_in_it() -> None:
    silent = [_name(p) for p in _sources() if p.read_text().strip() and not ast.get_docstring(ast.parse(p.read_text()))]
    assert not silent, f"no opening docstring: {silent}"


def test_the_environment_is_read_in_one_file_per_process_role() -> None:
    readers = set()
    for path in _sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv"}:
                readers.add(_name(path))
    assert readers <= ENVIRONMENT_READERS, f"os.environ read in {sorted(readers - ENVIRONMENT_READERS)}"


@pytest.mark.parametrize("path", _sources(), ids=_name)
def test_names_say_what_a_file_holds(path: Path) -> None:
    parts = {p.removesuffix(".py") for p in path.relative_to(SOURCE).parts}
    allowed = path.relative_to(SOURCE).parts[0] in ALIASES
    assert allowed or not parts & FORBIDDEN_NAMES


def test_no_file_speaks_of_the_machine_it_was_written_on() -> None:
    words = ["/" + "work/", "/" + "farm/", "." + "library"]
    found = [
        f"{p.relative_to(ROOT)}: {w}"
        for folder in ("src", "tests", "examples", "docs", "benchmarks", "scripts")
        for p in (ROOT / folder).rglob("*")
        if not any(part.startswith(".") for part in p.relative_to(ROOT).parts)
        and p.is_file()
        and p.suffix in {".py", ".md", ".yaml", ".sh", ".toml", ".txt"}
        for w in words
        if w in p.read_text(errors="replace")
    ]
    assert not found, found


def test_no_test_promises_wall_clock_time() -> None:
    promised = [
        f"{path.relative_to(ROOT)}:{check.lineno}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for check in ast.walk(ast.parse(path.read_text()))
        if isinstance(check, ast.Assert) and any(_is_short(part) for part in ast.walk(check.test))
    ]
    assert not promised, (
        f"a claim of speed is a script in benchmarks/; to end a hang allow {HANG_SECONDS} s: {promised}"
    )


def _is_short(node: ast.AST) -> bool:
    """Return whether it says "a difference of wall clocks is below so many seconds"."""
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[-1], ast.Lt | ast.LtE):
        return False
    limit, clocks = node.comparators[-1], ("monotonic", "perf_counter", "time")
    if not isinstance(limit, ast.Constant) or limit.value >= HANG_SECONDS:
        return False
    called = (part.func for part in ast.walk(node) if isinstance(part, ast.Call))
    return any(isinstance(function, ast.Attribute) and function.attr in clocks for function in called)
