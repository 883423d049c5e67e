"""Modules outside of a registry's folder ask for traits of what it has, never for one by its name."""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Set
from pathlib import Path

import pytest

from determined._frameworks import frameworks
from determined.config.task_kinds import KINDS
from determined.engines.registry import managers
from determined.search.registry import samplers, searchers
from determined.storage import registry as stores

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "determined"
PAGE = ROOT / "webui" / "src"
SEARCHERS = {*searchers(), *samplers()}
FRAMEWORKS = {name for framework in frameworks() for name in framework.extras}
FOLDERS = {framework.package.removeprefix("determined.").replace(".", "/") for framework in frameworks()}
# The names of a registry, and the modules that may know them.
REGISTRIES: dict[str, tuple[Set[str], Set[str]]] = {
    # `auto` is also a number of slots and a type of them.
    "determined/search/registry.py": (SEARCHERS, {"search", "cli/slots_option.py", "engines/slurm/partitions.py"}),
    # Upstream's database has a table per store of its own; its importer reads those.
    "determined/storage/registry.py": ({*stores.kinds()}, {"storage", "master/importing/sources/upstream"}),
    "determined/engines/registry.py": ({*managers()}, {"engines"}),
    # Upstream's `determined.horovod` loads the part of Horovod that belongs to a framework.
    "determined/_frameworks.py": (FRAMEWORKS, {*FOLDERS, "horovod.py"}),
    # The runner imports no configs before its task has started; it asks `TaskSpec.is_trial`.
    "determined/config/task_kinds.py": ({*KINDS}, {"wire/report.py"}),
}


def modules(owners: Iterable[str]) -> list[Path]:
    return [
        path
        for path in sorted(SOURCE.rglob("*.py"))
        if not any(path.is_relative_to(SOURCE / owner) for owner in owners)
    ]


def comparisons(tree: ast.AST, names: Set[str]) -> Iterator[tuple[int, str]]:
    """Find comparisons with a name, whole or as a prefix."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and any(isinstance(op, ast.Eq | ast.NotEq) for op in node.ops):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "startswith":
            sides = node.args
        else:
            continue
        yield from ((node.lineno, side.value) for side in sides if is_name(side, names))


def collections(tree: ast.AST, names: Set[str]) -> Iterator[tuple[int, str]]:
    """Find collections that list several names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            listed = [item.value for item in node.elts if is_name(item, names)]
            if len(listed) > 1:
                yield node.lineno, ", ".join(map(str, listed))


def is_name(node: ast.expr, names: Set[str]) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in names


def named(
    find: Callable[[ast.AST, Set[str]], Iterator[tuple[int, str]]], names: Set[str], owners: Iterable[str]
) -> dict[str, list[tuple[int, str]]]:
    found = {
        path.relative_to(SOURCE).as_posix(): [*find(ast.parse(path.read_text()), names)] for path in modules(owners)
    }
    return {path: places for path, places in found.items() if places}


@pytest.mark.parametrize("registry", REGISTRIES)
def test_no_module_outside_asks_for_one_by_its_name(registry: str) -> None:
    wrong = named(comparisons, *REGISTRIES[registry])
    assert not wrong, f"{wrong}; ask the registry for a trait ({registry})"


def test_no_module_outside_search_lists_searchers() -> None:
    wrong = named(collections, SEARCHERS, {"search"})
    assert not wrong, f"{wrong}; ask the registry for a trait (determined/search/registry.py)"


def test_the_page_asks_for_no_searcher_by_its_name() -> None:
    compared = re.compile(rf'[!=]==\s*"(?:{"|".join(SEARCHERS)})"')
    scripts = [path for path in PAGE.rglob("*.ts*") if ".test." not in path.name]
    found = [path.name for path in scripts if compared.search(path.read_text())]
    assert not found, f"{found}: use the traits of webui/src/searchers.ts"
