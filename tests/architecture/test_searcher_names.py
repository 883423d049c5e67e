"""Searchers and samplers are known by their traits: no module but their own asks for one by its name."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from determined.search.registry import samplers, searchers

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "determined"
PAGE = ROOT / "webui" / "src"
NAMES = {*searchers(), *samplers()}


def modules() -> list[Path]:
    return [path for path in sorted(SOURCE.rglob("*.py")) if not path.is_relative_to(SOURCE / "search")]


def named(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Find comparisons with a name, and collections that list several."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(isinstance(op, ast.Eq | ast.NotEq) for op in node.ops):
                yield from ((node.lineno, side.value) for side in sides if is_name(side))
        elif isinstance(node, ast.Tuple | ast.List | ast.Set):
            listed = [item.value for item in node.elts if is_name(item)]
            if len(listed) > 1:
                yield node.lineno, ", ".join(map(str, listed))


def is_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in NAMES


def test_no_module_outside_search_asks_for_a_searcher_by_its_name() -> None:
    found = {path.relative_to(SOURCE).as_posix(): [*named(ast.parse(path.read_text()))] for path in modules()}
    wrong = {path: names for path, names in found.items() if names}
    assert not wrong, f"{wrong}; ask the registry for a trait (determined/search/registry.py)"


def test_the_page_asks_for_no_searcher_by_its_name() -> None:
    compared = re.compile(rf'[!=]==\s*"(?:{"|".join(NAMES)})"')
    scripts = [path for path in PAGE.rglob("*.ts*") if ".test." not in path.name]
    found = [path.name for path in scripts if compared.search(path.read_text())]
    assert not found, f"{found}: use the traits of webui/src/searchers.ts"
