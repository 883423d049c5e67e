"""Whatever `det` prints goes through cli/render.py, which makes the text of other users harmless for a terminal."""

import ast
from pathlib import Path

CLI = Path(__file__).parents[2] / "src" / "determined" / "cli"
PRINTING = {"print", "sys.stdout.write", "sys.stderr.write", "sys.stdout.buffer.write", "input"}
PRINTING |= {"traceback.print_exc", "traceback.print_exception", "os.write", "print_help"}
# The words of the command line itself, before anything was asked of a master; `render` would cost time to load.
MAIN = {"print"}


def test_nothing_in_cli_prints_around_render() -> None:
    for path in sorted(CLI.rglob("*.py")):
        allowed = PRINTING if path.name == "render.py" else MAIN if path.name == "main.py" else set()
        names = {name for name, _ in _calls(path)}
        assert not (names & PRINTING) - allowed, f"{path}: use cli/render.py"
        assert path.name == "render.py" or "from rich" not in path.read_text(), f"{path}: only cli/render.py uses rich"


def test_render_writes_only_what_terminal_has_made_harmless() -> None:
    written = [text for name, text in _calls(CLI / "render.py") if name in ("out.write", "sys.stdout.write")]
    assert written and all(text.split("(")[0] in ("harmless", "log_text", "json_text") for text in written), written


def _calls(path: Path) -> list[tuple[str, str]]:
    """(function, first argument) of every call, as they are written."""
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    return [(ast.unparse(call.func), ast.unparse(call.args[0]) if call.args else "") for call in calls]
