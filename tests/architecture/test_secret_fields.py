"""The text of our own types never holds a token or a password: it may end in a log, a message or a traceback."""

import ast
from pathlib import Path

from determined.api.own_master import MasterState
from determined.api.proof import Claim
from determined.constants import MASKED, SECRET_FIELDS
from determined.wire.claim import Order
from determined.wire.user import LoginRequest

# Whether a field of a config is secret; the name of a container; the lifespans of tokens.
NO_SECRETS = {
    "schema/objects.py: Field.secret",
    "master/config/file.py: Security.token",
    "engines/docker/tracked_container.py: TrackedContainer.identity",
}
SOURCE = Path(__file__).parents[2] / "src" / "determined"


def test_every_field_that_holds_a_secret_is_left_out_of_the_text() -> None:
    loud = {
        f"{path.relative_to(SOURCE)}: {kind.name}.{name}"
        for path in sorted(SOURCE.rglob("*.py"))
        for kind in ast.walk(ast.parse(path.read_text()))
        if isinstance(kind, ast.ClassDef) and _has_fields(kind) and not _says_itself(kind)
        for name in _loud_fields(kind)
    } - NO_SECRETS
    assert not loud, f"write field(repr=False), secret=True in a config, or __repr__ with wire.codec.text_of: {loud}"


def test_what_is_printed_of_them_has_a_mask() -> None:
    state = MasterState(url="u", pid=1, version="1", identity="secret-1", password="secret-2", data_dir="d")
    order = Order(master_url="u", allocation_id="a", ticket="secret-3")
    login = LoginRequest(username="ada", password="secret-4")
    text = repr([state, order, login, Claim("u", "a", "secret-5")])
    assert "secret-" not in text
    assert text.count(MASKED) == 4 and "ada" in text


def _has_fields(kind: ast.ClassDef) -> bool:
    names = {ast.unparse(base) for base in kind.bases}
    if any("dataclass" in ast.unparse(d) for d in kind.decorator_list):
        return True
    return bool(names & {"msgspec.Struct", "Struct"}) or any("field(" in ast.unparse(part) for part in kind.body)


def _says_itself(kind: ast.ClassDef) -> bool:
    return any(isinstance(part, ast.FunctionDef) and part.name == "__repr__" for part in kind.body)


def _loud_fields(kind: ast.ClassDef) -> list[str]:
    fields = [part for part in kind.body if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)]
    secret = [part for part in fields if ast.unparse(part.target) in SECRET_FIELDS]
    return [ast.unparse(part.target) for part in secret if not _is_left_out(ast.unparse(part.value or part.target))]


def _is_left_out(declaration: str) -> bool:
    return "repr=False" in declaration or "secret=True" in declaration
