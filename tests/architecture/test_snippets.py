"""Check every snippet of every document without running it: Python compiles and imports what exists, YAML is a valid
config, `det` understands each command line, and `make` has each target. Pages of docs/ are also run, by tests/e2e.
"""

import ast
import itertools
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from determined.cli import main as cli
from document_blocks import ROOT, Block, blocks, check_config, every_document

SOURCES = ROOT / "src"
_MADE = re.compile(r"(?:^|`|\$ |&& )make ((?:[A-Z]+=\S+ )*[a-z][\w-]*)", re.MULTILINE)
_SPAN = re.compile(r"(?<!`)`(det [^`]+|make [^` ]+)`(?!`)")
_TARGET = re.compile(r"^([a-z][\w-]*):", re.MULTILINE)
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)")


def _every(*languages: str) -> list[Block]:
    return [block for document in every_document() for block in blocks(document) if block.language in languages]


def test_every_block_says_its_language() -> None:
    known = ("bash", "console", "dockerfile", "ini", "json", "makefile", "python", "sql", "text", "toml", "yaml")
    odd = [block.where for document in every_document() for block in blocks(document) if block.language not in known]
    assert not odd, f"name one of {known} after the fence of {odd}"


def test_every_console_block_has_a_command() -> None:
    """Lines without `$ ` are expected output: a block of these alone runs nothing."""
    empty = [block.where for block in _every("console") if not block.script.strip()]
    assert not empty, f"write `$ ` before the commands of {empty}, or call the block bash"


@pytest.mark.parametrize("block", _every("python"), ids=lambda block: block.where)
def test_a_python_snippet_compiles_and_imports_names_that_exist(block: Block) -> None:
    tree = compile(block.text, block.where, "exec", ast.PyCF_ONLY_AST)
    missing = [name for node in ast.walk(tree) for name in _imported(node) if not _exists(*name)]
    assert not missing, f"{block.where} imports {missing}"


@pytest.mark.parametrize("block", _every("yaml"), ids=lambda block: block.where)
def test_a_yaml_snippet_is_a_sound_config(block: Block) -> None:
    check_config(block)


@pytest.mark.parametrize("document", every_document(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_det_understands_every_command_line(document: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "_guarded", lambda about, run: 0)
    for block in blocks(document):
        if block.language in ("bash", "console") and "exit status" not in block.marks:
            for words in _det_lines(block.script):
                assert _understood(words), f"{block.where}: det does not take {shlex.join(words)}"


@pytest.mark.parametrize("document", every_document(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_det_has_every_command_that_a_sentence_names(document: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "_guarded", lambda about, run: 0)
    for span in _SPAN.findall(document.read_text()):
        words = span.split()
        path = list(itertools.takewhile(re.compile(r"[a-z][a-z-]*").fullmatch, words[1:]))
        if words[0] == "det" and path:
            assert _understood([*path[:4], "--help"]), f"{document.relative_to(ROOT)} names `{span}`"


def test_make_has_every_target_that_a_document_names() -> None:
    targets = set(_TARGET.findall((ROOT / "Makefile").read_text()))
    for document in every_document():
        scripts = [block.script for block in blocks(document) if block.language in ("bash", "console")]
        text = "\n".join([*scripts, *_SPAN.findall(document.read_text())])
        named = {match.split()[-1] for match in _MADE.findall(text)}
        assert named <= targets, f"{document.relative_to(ROOT)} names make {named - targets}"


def test_every_module_that_a_document_runs_exists() -> None:
    for document in every_document():
        modules = re.findall(r"python3? -m (determined[\w.]*)", document.read_text())
        gone = [module for module in modules if _file(module) is None]
        assert not gone, f"{document.relative_to(ROOT)} runs {gone}"


def test_no_script_saves_after_it_has_completed_its_operation() -> None:
    """A trial that ends between the two would be complete and have no checkpoint; readers copy the order."""
    examples = {path.relative_to(ROOT).as_posix(): path.read_text() for path in (ROOT / "examples").rglob("*.py")}
    scripts = {**examples, **{block.where: block.text for block in _every("python")}}
    late = [f"{where}:{line}" for where, text in scripts.items() for line in _saves_after_completion(text)]
    assert not late, f"save before `report_completed` and `complete` in {late}"


def _saves_after_completion(text: str) -> Iterator[int]:
    """Yield lines that save below a completion, in the same function or both at the top of the script."""
    tree = ast.parse(text)
    for scope in [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))]:
        calls = list(_calls_in(scope))
        completed = [line for name, line in calls if name in ("report_completed", "complete")]
        saved = [line for name, line in calls if name in ("store_path", "save_path", "upload", "save")]
        yield from (line for line in saved if completed and line > min(completed))


def _calls_in(scope: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield (name, line) of the calls in a scope, without those of functions inside it."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
            yield node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id, node.lineno
        if not isinstance(node, ast.FunctionDef):
            yield from _calls_in(node)


def _imported(node: ast.AST) -> Iterator[tuple[str, str | None]]:
    """(module, name) of each import of ours."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, None) for alias in node.names if _is_ours(alias.name))
    elif isinstance(node, ast.ImportFrom) and _is_ours(node.module or ""):
        yield from ((node.module or "", alias.name) for alias in node.names)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in ("determined", "determined_common")


def _exists(module: str, name: str | None) -> bool:
    """Look at files alone: frameworks need not be installed."""
    file = _file(module)
    if file is None:
        return False
    return name is None or _file(f"{module}.{name}") is not None or name in _names_of(file)


def _file(module: str) -> Path | None:
    place = SOURCES.joinpath(*module.split("."))
    candidates = (place.with_suffix(".py"), place / "__init__.py")
    return next((path for path in candidates if path.is_file()), None)


def _names_of(file: Path) -> set[str]:
    """Names at the top of a module; a package that loads lazily lists them as text in `__all__`."""
    names: set[str] = set()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            names |= {leaf.id for leaf in ast.walk(node) if isinstance(leaf, ast.Name)}
            names |= {str(leaf.value) for leaf in ast.walk(node) if isinstance(leaf, ast.Constant)}
    return names


def _det_lines(script: str) -> Iterator[list[str]]:
    """The words after `det` of each simple command."""
    for line in _logical_lines(script):
        tokens = shlex.shlex(line, posix=True, punctuation_chars=True)
        tokens.whitespace_split = True
        for operator, words in itertools.groupby(tokens, key=_is_operator):
            command = list(words)
            command = command[_assignments(command) :]
            if not operator and command[:1] == ["det"]:
                yield command[1:]


def _is_operator(token: str) -> bool:
    return not token.strip("();<>|&") and token != ""


def _logical_lines(script: str) -> Iterator[str]:
    """Lines with their continuations, without what stands in a here-document or goes over lines in quotes."""
    until, kept = None, ""
    for line in script.splitlines():
        if until is not None:
            until = None if line.strip() == until else until
            continue
        kept += line.removesuffix("\\")
        if line.endswith("\\") or kept.count("'") % 2:
            kept += "" if line.endswith("\\") else "\n"
            continue
        if heredoc := _HEREDOC.search(kept):
            until = heredoc[1]
        yield kept
        kept = ""


def _assignments(words: list[str]) -> int:
    return next((n for n, word in enumerate(words) if not re.fullmatch(r"\w+=.*", word)), len(words))


def _understood(words: list[str]) -> bool:
    try:
        return cli.main([_value(word) for word in words]) == 0
    except SystemExit as e:
        return e.code == 0


def _value(word: str) -> str:
    """A number in place of a shell variable."""
    return "1" if re.fullmatch(r"\"?\$\{?\w+\}?\"?", word) else word
