"""Public names and signatures of a package, read from its source: no framework has to be installed."""

import ast
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path


@dataclass
class Signature:
    """The parameters of a call, without `self`."""

    positional: list[str] = field(default_factory=list)
    keyword_only: list[str] = field(default_factory=list)
    required: set[str] = field(default_factory=set)
    open: bool = False  # takes any keyword

    @property
    def names(self) -> list[str]:
        return [*self.positional, *self.keyword_only]


@dataclass
class Class:
    """A class with what it inherits within the package."""

    methods: dict[str, Signature] = field(default_factory=dict)
    attributes: set[str] = field(default_factory=set)


Found = Signature | Class | str  # a plain value or a module is its kind


class Package:
    """The source tree of one package, as `Package(site_packages / "determined")`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def public_names(self, module: str) -> list[str]:
        """The names of `__all__`, else those without an underscore that the package itself defines."""
        tree = self._tree(module)
        listed = next((n.value for n in tree.body if _assigns(n, "__all__")), None)
        if listed is not None:
            return sorted(ast.literal_eval(listed))
        return sorted(n for n in self._bindings(module) if not n.startswith("_") and self.find(module, n) is not None)

    def has(self, module: str) -> bool:
        return self._file(module) is not None

    def find(self, module: str, name: str, depth: int = 0) -> Found | None:
        """Return what `module.name` is; None when the package defines no such name."""
        if self._file(module) is None or depth > 12:
            return None
        binding = self._bindings(module).get(name)
        if binding is None:
            return "module" if self._file(f"{module}.{name}") else self._through_star(module, name, depth)
        return self._described(module, binding, depth)

    def _described(self, module: str, binding: ast.AST | tuple[str, str], depth: int) -> Found | None:
        if isinstance(binding, tuple):
            return self.find(*binding, depth + 1) if binding[1] else ("module" if self.has(binding[0]) else None)
        if isinstance(binding, ast.FunctionDef | ast.AsyncFunctionDef):
            return _signature(binding, is_method=False)
        if isinstance(binding, ast.ClassDef):
            return self._class(module, binding, depth)
        if isinstance(binding, ast.Call) and len(binding.args) == 1:  # `name = function_of(Class.method)`
            return self._described(module, binding.args[0], depth)
        if isinstance(binding, ast.Attribute) and isinstance(binding.value, ast.Name):
            owner = self.find(module, binding.value.id, depth + 1)
            return owner.methods.get(binding.attr) if isinstance(owner, Class) else "value"
        if isinstance(binding, ast.Name):
            return self.find(module, binding.id, depth + 1) or "value"
        return "value"

    def _class(self, module: str, node: ast.ClassDef, depth: int) -> Class:
        made = Class()
        for base in reversed(node.bases):
            inner = base.value if isinstance(base, ast.Subscript) else base
            found = self._base(module, inner, depth)
            if isinstance(found, Class):
                made.methods.update(found.methods)
                made.attributes |= found.attributes
        fields: list[tuple[str, bool]] = []
        for each in node.body:
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
                self._add_function(made, each)
            elif isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
                made.attributes.add(each.target.id)
                fields.append((each.target.id, each.value is None))
            elif isinstance(each, ast.Assign):
                made.attributes |= {t.id for t in each.targets if isinstance(t, ast.Name)}
        if fields and any("dataclass" in ast.unparse(d) for d in node.decorator_list):
            made.methods["__init__"] = Signature([n for n, _ in fields], required={n for n, must in fields if must})
        made.attributes |= set(made.methods)
        return made

    def _add_function(self, made: Class, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        kinds = {ast.unparse(d).split(".")[-1] for d in node.decorator_list}
        if kinds & {"property", "setter", "cached_property"}:
            made.attributes.add(node.name)
            made.methods.pop(node.name, None)
        elif "overload" not in kinds:
            made.methods[node.name] = _signature(node, is_method="staticmethod" not in kinds)
        for inner in ast.walk(node):
            if isinstance(inner, ast.Assign | ast.AnnAssign):
                targets = inner.targets if isinstance(inner, ast.Assign) else [inner.target]
                made.attributes |= {leaf for t in targets for leaf in _own_attributes(t)}

    def _base(self, module: str, base: ast.expr, depth: int) -> Found | None:
        if isinstance(base, ast.Name):
            return self.find(module, base.id, depth + 1)
        if isinstance(base, ast.Attribute):
            owner = self._bindings(module).get(ast.unparse(base.value).split(".")[0])
            if isinstance(owner, tuple):
                inner = ".".join([*(p for p in owner if p), *ast.unparse(base.value).split(".")[1:]])
                return self.find(inner, base.attr, depth + 1)
        return None

    def _through_star(self, module: str, name: str, depth: int) -> Found | None:
        for each in self._tree(module).body:
            if isinstance(each, ast.ImportFrom) and each.names[0].name == "*" and each.module:
                found = self.find(each.module, name, depth + 1)
                if found is not None:
                    return found
        return None

    def _file(self, module: str) -> Path | None:
        path = self.root.joinpath(*module.split(".")[1:])
        return next((f for f in (path / "__init__.py", path.with_suffix(".py")) if f.is_file()), None)

    def _tree(self, module: str) -> ast.Module:
        file = self._file(module)
        assert file is not None, module
        return _parsed(file)

    def _bindings(self, module: str) -> dict[str, ast.AST | tuple[str, str]]:
        made: dict[str, ast.AST | tuple[str, str]] = {}
        for each in _statements(self._tree(module).body):
            if isinstance(each, ast.ImportFrom):
                source = each.module or ""
                made.update(
                    {a.asname or a.name: (source, a.name) for a in each.names if source.startswith("determined")}
                )
            elif isinstance(each, ast.Import):
                made.update(
                    {a.asname: (a.name, "") for a in each.names if a.asname and a.name.startswith("determined")}
                )
            elif isinstance(each, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                made[each.name] = each
            elif isinstance(each, ast.Assign):
                made.update({t.id: each.value for t in each.targets if isinstance(t, ast.Name)})
            elif isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and each.value is not None:
                made[each.target.id] = each.value
        return made


@cache
def _parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


def _statements(body: list[ast.stmt]) -> list[ast.stmt]:
    """Those of a module, with what its `if` and `try` blocks hold."""
    made: list[ast.stmt] = []
    for each in body:
        if isinstance(each, ast.If | ast.Try):
            made += _statements([*each.body, *each.orelse])
        else:
            made.append(each)
    return made


def _is_own(module: str) -> bool:
    return module.split(".", maxsplit=1)[0] == "determined"


def _assigns(node: ast.stmt, name: str) -> bool:
    return isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets)


def _own_attributes(target: ast.expr) -> set[str]:
    leaves = target.elts if isinstance(target, ast.Tuple) else [target]
    return {
        leaf.attr
        for leaf in leaves
        if isinstance(leaf, ast.Attribute) and isinstance(leaf.value, ast.Name) and leaf.value.id == "self"
    }


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef, *, is_method: bool) -> Signature:
    args = node.args
    positional = [a.arg for a in [*args.posonlyargs, *args.args]]
    required = set(positional[: len(positional) - len(args.defaults)])
    required |= {a.arg for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is None}
    positional = positional[1:] if is_method else positional
    keyword_only = [a.arg for a in args.kwonlyargs]
    return Signature(positional, keyword_only, required & {*positional, *keyword_only}, args.kwarg is not None)
