"""How the daemon is spoken to, against one that says what a test wants."""

import asyncio
import base64
import json
from pathlib import Path

import pytest
from docker_socket import Daemon, ignore

from determined.engines.docker.api import Docker
from determined.engines.docker.images import Images
from determined.engines.model import Container
from determined.errors import AlreadyExists, FailedPrecondition, InvalidArgument, Unavailable


async def test_missing_daemon_is_named_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"nobody.*resource_manager\.socket"):
        await Docker(str(tmp_path / "nobody")).has_image("x")


async def test_daemon_that_hangs_up_is_away(daemon: Daemon) -> None:
    daemon.answers = [(0, b"")]
    with pytest.raises(Unavailable, match="hung up"):
        await Docker(daemon.socket).has_image("x")


async def test_answer_that_breaks_off_is_none(daemon: Daemon) -> None:
    """Else a fetch that a restart of the daemon ends would count as one that succeeded."""
    daemon.answers, daemon.breaks_off = [(200, b'{"status": "Downloading"}\n')], True
    with pytest.raises(Unavailable, match="broke off in the middle"):
        await Docker(daemon.socket).pull("x:1", None)


async def test_name_that_leads_elsewhere_is_refused(daemon: Daemon) -> None:
    daemon.answers = [(301, b"Moved")]
    with pytest.raises(FailedPrecondition, match="Moved"):
        await Docker(daemon.socket).has_image("..")


@pytest.mark.parametrize(("status", "kind"), [(400, InvalidArgument), (409, AlreadyExists), (500, FailedPrecondition)])
async def test_refusal_has_the_words_of_the_daemon(daemon: Daemon, status: int, kind: type[Exception]) -> None:
    daemon.answers = [(status, json.dumps({"message": "no such device"}).encode())]
    with pytest.raises(kind, match="no such device"):
        await Docker(daemon.socket).create("name", {})


@pytest.mark.parametrize(
    ("image", "target"),
    [
        ("debian", "fromImage=debian&tag=latest"),
        ("debian:12", "fromImage=debian%3A12&tag="),
        ("reg:5000/debian", "fromImage=reg%3A5000%2Fdebian&tag=latest"),
        ("debian@sha256:0", "fromImage=debian%40sha256%3A0&tag="),
    ],
)
async def test_one_tag_is_fetched_and_never_all(daemon: Daemon, image: str, target: str) -> None:
    daemon.answers = [(200, b'{"status": "done"}\n')]
    await Docker(daemon.socket).pull(image, None)
    assert f"POST /images/create?{target} HTTP" in daemon.heard[0]


async def test_login_goes_to_the_daemon_in_a_header_and_nowhere_else(
    daemon: Daemon, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("determined.engines.docker.image_pull._DELAYS", ())
    daemon.answers = [(404, b'{"message": "no such image"}'), (200, b'{"error": "denied"}\n')]
    auth = {"username": "me", "password": "hidden"}
    wanted = Container(image="private/x:1", registry_auth=auth)
    caplog.set_level("DEBUG")
    with pytest.raises(FailedPrecondition) as refused:
        await Images(Docker(daemon.socket), {}).ready(wanted, ignore)
    header = next(line for line in daemon.heard[1].splitlines() if line.startswith("X-Registry-Auth"))
    assert json.loads(base64.urlsafe_b64decode(header.partition(": ")[2])) == auth
    assert "image 'private/x:1': it is not on this machine and cannot be fetched: denied" in refused.value.message
    assert "docker pull private/x:1" in refused.value.message
    assert "hidden" not in caplog.text + refused.value.message


async def test_image_is_fetched_once_for_all_who_wait_for_it(daemon: Daemon) -> None:
    """Also where one of them gives up."""
    daemon.answers = [(404, b"{}")] * 3 + [(200, b'{"Id": "sha256:1"}')]
    images, wanted = Images(Docker(daemon.socket), {}), Container(image="x:1")
    waiting = [asyncio.create_task(images.ready(wanted, ignore)) for _ in range(3)]
    while len(daemon.heard) < 3:  # noqa: ASYNC110 - the daemon is a task of this loop
        await asyncio.sleep(0)
    waiting[0].cancel()
    assert await asyncio.gather(*waiting[1:]) == ["sha256:1"] * 2
    assert sum("/images/create" in call for call in daemon.heard) == 1


async def test_task_without_an_image_is_told_where_to_name_one(daemon: Daemon) -> None:
    with pytest.raises(FailedPrecondition, match=r"environment\.image"):
        await Images(Docker(daemon.socket), {}).ready(Container(), ignore)


async def test_image_is_not_fetched_with_the_login_of_another(daemon: Daemon) -> None:
    daemon.answers = [(404, b"{}")] * 4 + [(200, b'{"Id": "sha256:1"}')]
    images = Images(Docker(daemon.socket), {})
    wanted = [Container(image="x:1", registry_auth={"username": name}) for name in ("ann", "bob")]
    await asyncio.gather(*(images.ready(one, ignore) for one in wanted))
    logins = {line for call in daemon.heard for line in call.splitlines() if line.startswith("X-Registry-Auth")}
    assert len(logins) == 2


async def test_daemon_that_goes_away_during_a_fetch_is_no_fault_of_the_image(
    daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("determined.engines.docker.image_pull._DELAYS", (0.0,))
    daemon.answers = [(404, b"{}"), (0, b"")]
    heard: list[str] = []
    with pytest.raises(Unavailable, match="hung up"):
        await Images(Docker(daemon.socket), {}).ready(Container(image="x:1"), heard.append)
    assert [text for text in heard if "cannot be fetched yet, trying again: Docker at" in text]


async def test_whoever_waits_for_an_image_is_told_how_far_it_is(
    daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("determined.engines.docker.image_pull._NEWS_SECONDS", 0.0)
    story = [
        {"status": "Pulling from team/x", "id": "1"},
        {"status": "Already exists", "id": "aaa"},
        {"status": "Downloading", "id": "bbb", "progressDetail": {"current": 3 * 1024**2, "total": 9 * 1024**2}},
        {"status": "Pull complete", "id": "bbb", "progressDetail": {}},
    ]
    lines = b"".join(json.dumps(one).encode() + b"\n" for one in story)
    daemon.answers = [(404, b"{}"), (200, lines), (200, b'{"Id": "sha256:1"}')]
    heard: list[str] = []
    await Images(Docker(daemon.socket), {}).ready(Container(image="x:1"), heard.append)
    assert heard[0] == "image x:1 is fetched; the task starts when it is here"
    assert "image x:1: 1 of 2 layers are here, 3 of 9 MiB downloaded so far" in heard
    assert "image x:1: 2 of 2 layers are here, 9 of 9 MiB downloaded so far" in heard
    assert heard[-1].startswith("image x:1 is here after ")
