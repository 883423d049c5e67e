"""Find where the code reads fields of typed configs: every `x.field`, with what is known of `x`.

What `x` is called is taken from its annotation (`def mount(asked: BindMount)`), from what it was assigned from
(`token = config.security.token`), from what it is an item of (`for pool in config.pools`), or from its own name.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "determined"
APART = {"wire", "migrations", "schema"}

Read = tuple[str, str]
"""What the base of an attribute is called, and the attribute."""


def all_reads() -> set[Read]:
    paths = (path for path in SOURCE.rglob("*.py") if not APART & set(path.relative_to(SOURCE).parts))
    return {read for path in paths for read in reads_of(path.read_text())}


def reads_of(code: str) -> set[Read]:
    return set(_Reader().read(ast.parse(code)))


def words(folder: str) -> set[str]:
    """Return all words in the code of a folder: keys of JSON that it is given whole, attributes, arguments."""
    paths = (path for path in (SOURCE / folder).rglob("*.py") if path.name != "task_section.py")  # declares keys
    text = "\n".join(path.read_text() for path in paths)
    return set(re.findall(r"\w+", text))


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


class _Reader:
    """Walks a module with the names of the scope that it is in."""

    def read(self, tree: ast.AST) -> Iterator[Read]:
        yield from self._walk(tree, {}, "")

    def _walk(self, node: ast.AST, names: dict[str, str], own: str) -> Iterator[Read]:
        """`names`: what the variables of this scope are called, in the order of the text."""
        if isinstance(node, ast.ClassDef):
            own = snake(node.name)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            names = {**names, **self._parameters(node, own)}
        names.update(self._bindings(node, names))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            yield from ((base, node.attr) for base in self._label(node.value, names).split("|"))
        for child in ast.iter_child_nodes(node):
            yield from self._walk(child, names, own)

    def _parameters(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, own: str) -> dict[str, str]:
        args = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        kinds = {arg.arg: _class_of(arg.annotation) for arg in args if arg.annotation is not None}
        return {"self": own, **{name: snake(kind) for name, kind in kinds.items() if kind}}

    def _bindings(self, node: ast.AST, names: dict[str, str]) -> dict[str, str]:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            return self._assigned(node.targets[0], node.value, names)
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension) and isinstance(node.target, ast.Name):
            return {node.target.id: self._label(node.iter, names)}
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            return {name: label for part in node.generators for name, label in self._bindings(part, names).items()}
        return {}

    def _assigned(self, target: ast.expr, value: ast.expr, names: dict[str, str]) -> dict[str, str]:
        if isinstance(target, ast.Name):
            return {target.id: self._label(value, names) or target.id}
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = zip(target.elts, value.elts, strict=False)
            return {name: label for one in pairs for name, label in self._assigned(*one, names).items()}
        return {}

    def _label(self, node: ast.expr, names: dict[str, str]) -> str:
        if isinstance(node, ast.Name):
            return names.get(node.id, snake(node.id))
        if isinstance(node, ast.Attribute):
            return node.attr
        if isinstance(node, ast.Call):
            made = isinstance(node.func, ast.Attribute) and node.func.attr in ("load", "parse", "replace")
            return self._label(node.func.value if made and isinstance(node.func, ast.Attribute) else node.func, names)
        if isinstance(node, ast.BoolOp):
            return self._label(node.values[0], names)
        if isinstance(node, ast.IfExp):
            return self._label(node.body, names)
        return self._label(node.value, names) if isinstance(node, ast.Subscript | ast.Await) else ""


def _class_of(annotation: ast.expr) -> str:
    """The class that an annotation names: `X`, `a.X`, `X | None`, `Sequence[X]`; several are joined by a bar."""
    if isinstance(annotation, ast.BinOp):
        return "|".join(filter(None, (_class_of(annotation.left), _class_of(annotation.right))))
    known = [word for word in re.findall(r"\b[A-Z]\w+", ast.unparse(annotation)) if word != "None"]
    return known[-1] if known else ""
