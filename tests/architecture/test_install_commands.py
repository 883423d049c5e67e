"""Install commands that messages and documents name: each installs this project, by extras that exist.

`pip install determined` installs upstream's last release, which cannot share an environment with this one.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_PLACES = ("src", "docs", "examples", "scripts", "webui/src", "webui/index.html")
_TEXTS = (".py", ".md", ".toml", ".sh", ".yaml", ".ts", ".tsx", ".html", "Makefile")
# The name that pip would look up, alone, with extras or with a version; not a file such as `determined-0.39.whl`.
_UPSTREAMS = re.compile(r"\b(?:install|upgrade)\s+(?:-\S+\s+)*['\"]?determined(?=['\"`\s\[=<>~!,;:.)]|$)", re.MULTILINE)
_EXTRAS = re.compile(r"redetermined(?:-[\w.]+\.whl)?\[([\w,-]+)\]")
_NEARBY = 200  # characters within which a warning must say whose it is


def _texts() -> Iterator[tuple[Path, str]]:
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "Makefile"]
    for place in _PLACES:
        path = ROOT / place
        found += [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.name.endswith(_TEXTS))
    for path in found:
        yield path, path.read_text()


def wrong_commands(text: str) -> list[str]:
    """Commands that install upstream's distribution, where nothing nearby says that it is upstream's."""
    return [
        match[0]
        for match in _UPSTREAMS.finditer(text)
        if "upstream" not in text[max(match.start() - _NEARBY, 0) : match.end() + _NEARBY]
    ]


def test_nothing_tells_people_to_install_upstreams_distribution() -> None:
    found = [f"{path.relative_to(ROOT)}: {command}" for path, text in _texts() for command in wrong_commands(text)]
    assert found == [], "write redetermined, the wheel or the checkout"


def test_every_extra_that_is_named_exists() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = {
        (path, name) for path, text in _texts() for match in _EXTRAS.finditer(text) for name in match[1].split(",")
    }
    assert len(named) > 10
    assert [f"{path.relative_to(ROOT)}: {name}" for path, name in sorted(named) if name not in declared] == []


@pytest.mark.parametrize(
    ("text", "is_wrong"),
    [
        ("run: python -m pip install determined", True),
        ("pip install 'determined[torch]'", True),
        ("uv pip install --upgrade determined==0.38.1 now", True),
        ("pip install redetermined", False),
        ("pip install ./determined-0.39.0-py3-none-any.whl", False),
        ("do not type `pip install determined`: that is upstream's", False),
    ],
)
def test_a_wrong_command_is_recognised(text: str, is_wrong: bool) -> None:
    assert bool(wrong_commands(text)) is is_wrong
