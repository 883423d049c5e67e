"""Find the operations of the official client's bindings that a script calls, itself or through the SDK."""

COUNTED = """
import inspect, re
from determined.common.api import bindings

CALLED = set()

def counting(name, call):
    def counted(*args, **kwargs):
        CALLED.add(name)
        return call(*args, **kwargs)
    return counted

OPERATIONS = {}
for name, call in list(vars(bindings).items()):
    if re.match("(get|post|put|patch|delete)_", name):
        OPERATIONS[name] = re.search(r'path=f?"([^"]+)"', inspect.getsource(call)).group(1)
        setattr(bindings, name, counting(name, call))

def all_called(prefix, count):
    of_noun = {name for name, path in OPERATIONS.items() if re.match(f"/api/v1/({prefix})(/|$)", path)}
    assert of_noun <= CALLED, f"not called: {sorted(of_noun - CALLED)}"
    assert len(of_noun) == count, f"{len(of_noun)} operations, not {count}: {sorted(of_noun)}"
    print(f"{count} of {count} operations of {prefix}")
"""
