"""Run the commands that the page of a version offers for copying: det, Python, curl."""

import subprocess
import sys
from pathlib import Path

import pytest
from models_ground import MODELS, counter, get
from playwright.sync_api import Page, expect

from cluster import HANG_SECONDS, Client, Cluster, clean_environment

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
NAMES = ["counter", 'it\'s 50% $HOME & "more"!']


@pytest.fixture(scope="module")
def made(site: Cluster, tmp_path_factory: pytest.TempPathFactory) -> int:
    return counter(Client(site.url), tmp_path_factory.mktemp("storing"))


@pytest.fixture(params=NAMES)
def model(request: pytest.FixtureRequest, client: Client, made: int) -> int:
    client.call("PATCH", f"{MODELS}/{made}", {"name": request.param})
    assert get(client, made)["name"] == request.param
    return made


@pytest.mark.parametrize(("start", "shell"), [("det ", ["sh"]), ("from determined", None), ("mkdir ", ["bash"])])
def test_what_is_pasted_loads_the_files(
    signed_in: Page, client: Client, model: int, tmp_path: Path, start: str, shell: list[str] | None
) -> None:
    pasted = _snippet(signed_in, model, start)
    done = _run(shell or [sys.executable], pasted, tmp_path, DET_TOKEN=client.headers["Authorization"].split()[1])
    assert done.returncode == 0, done.stderr
    [found] = tmp_path.glob("*-2/weights.txt")
    assert found.read_text() == "2"


def test_without_a_token_the_curl_command_says_what_it_needs(signed_in: Page, made: int, tmp_path: Path) -> None:
    done = _run(["bash"], _snippet(signed_in, made, "mkdir "), tmp_path)
    assert done.returncode != 0
    assert "DET_TOKEN: needs an access token" in done.stderr


def _snippet(page: Page, model: int, start: str) -> str:
    page.goto(f"/det/models/{model}/versions/2")
    code = page.get_by_role("region", name="Load it").locator("code", has_text=start).first
    expect(code).to_be_visible()
    return code.inner_text()


def _run(program: list[str], pasted: str, home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Feed the lines to a shell or to Python, as pasting does, in an empty directory."""
    env = clean_environment(HOME=str(home), XDG_CONFIG_HOME=str(home / "config"), **variables)
    env["PATH"] = f"{Path(sys.executable).parent}:{env['PATH']}"
    return subprocess.run(
        program,
        input=pasted + "\n",
        text=True,
        capture_output=True,
        cwd=home,
        env=env,
        timeout=HANG_SECONDS,
        check=False,
    )
