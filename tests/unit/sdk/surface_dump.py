"""Prints the public surface of a module as the interpreter that runs this sees it, as JSON.

Run by the official client's Python and by ours: only the standard library and determined are imported.
"""

import enum
import importlib
import inspect
import json
import re
import sys
import warnings

ASSIGNED = re.compile(r"\bself\.(\w+)(?=(?:, self\.\w+)*(?:: [^=\n]+)? = )")


def surface(module_name, *, with_modules=False):
    """Public names of a module that determined defines, each with its signature and, of a class, its members.

    `with_modules`: also the modules of determined that are its attributes.
    """
    module = importlib.import_module(module_name)
    names = [name for name in dir(module) if not name.startswith("_")]
    own = {name: described(getattr(module, name)) for name in names if is_own(getattr(module, name))}
    unset = {name: {"kind": "variable", "call": None} for name in names if getattr(module, name) is None}
    return own | unset | (modules(module, names) if with_modules else {})


def modules(package, names):
    values = {name: getattr(package, name) for name in names}
    ours = [name for name, value in values.items() if inspect.ismodule(value) and is_of_determined(value.__name__)]
    return {name: {"kind": "module", "call": None} for name in ours}


def is_own(value):
    home = getattr(value, "__module__", "") or ""
    return (inspect.isclass(value) or inspect.isroutine(value)) and is_of_determined(home)


def is_of_determined(module_name):
    return module_name.partition(".")[0] == "determined"


def described(value):
    if not inspect.isclass(value):
        return {"kind": "function", "call": signature(value)}
    constants = getattr(value, "__members__", None)  # of an enum, or of what stands for one
    if constants is not None:
        members = {name: {"kind": "constant", "value": plain(each)} for name, each in constants.items()}
        of_each = {name: {"kind": "attribute"} for name in ("name", "value") if has_all(constants.values(), name)}
        return {"kind": "enum", "call": None, "members": {**constructor(value, None), **of_each, **members}}
    members = {name: member(value, name) for name in dir(value) if not name.startswith("_")}
    members = {**constructor(value, signature(value)), **instance_attributes(value), **members}
    return {"kind": "class", "call": signature(value), "members": members}


def constructor(owner, call):
    return {"__init__": {"kind": "constructor", "call": call}} if callable(owner) else {}


def has_all(constants, name):
    return all(hasattr(each, name) for each in constants)


def plain(constant):
    """The text that goes over the wire."""
    while isinstance(constant, enum.Enum):
        constant = constant._value_
    return str(constant)


def member(owner, name):
    value = inspect.getattr_static(owner, name)
    if isinstance(value, (staticmethod, classmethod)) or inspect.isroutine(value):
        return {"kind": "method", "call": signature(getattr(owner, name), is_bound=not inspect.isfunction(value))}
    return {"kind": "attribute"}


def instance_attributes(owner):
    """What methods assign to `self`, also those of base classes."""
    sources = [inspect.getsource(c) for c in owner.__mro__ if is_of_determined(c.__module__)]
    names = {name for source in sources for name in ASSIGNED.findall(source)}
    fields = getattr(owner, "__dataclass_fields__", {})
    return {name: {"kind": "attribute"} for name in {*names, *fields} if not name.startswith("_")}


def signature(value, is_bound=True):
    """Parameters in their order, without the object itself; None where Python cannot tell."""
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        return None
    if not is_bound:
        parameters = parameters[1:]
    return [[p.name, p.kind.name, p.default is inspect.Parameter.empty] for p in parameters]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    [name, *flags] = sys.argv[1:]
    print(json.dumps(surface(name, with_modules="--modules" in flags)))
