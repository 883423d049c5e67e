"""Calls to the daemon about containers and images, and what its answers mean."""

import asyncio
import json
from pathlib import Path
from urllib.parse import unquote

import pytest
from docker_socket import Daemon, ignore

from determined.engines.docker import api
from determined.engines.docker.api import Docker, Ended, Status
from determined.engines.docker.image_pull import Layers
from determined.engines.docker.images import Images
from determined.engines.model import Container
from determined.errors import FailedPrecondition, NotFound, Unavailable

GONE = (404, b'{"message": "No such container: x"}')
CONFLICT = (409, b'{"message": "container x is not running"}')


def frame(text: bytes, stream: int = 1) -> bytes:
    return bytes([stream, 0, 0, 0]) + len(text).to_bytes(4, "big") + text


@pytest.fixture
def docker(daemon: Daemon) -> Docker:
    return Docker(daemon.socket)


@pytest.mark.parametrize("answer", [GONE, CONFLICT], ids=["gone", "not running"])
async def test_container_that_is_over_is_killed_and_removed_without_a_word(
    daemon: Daemon, docker: Docker, answer: tuple[int, bytes]
) -> None:
    daemon.answers = [answer]
    await docker.kill("x", "TERM")
    await docker.remove("x")
    assert "POST /containers/x/kill?signal=TERM " in daemon.heard[0]
    assert "DELETE /containers/x?force=true&v=true " in daemon.heard[1]


async def test_container_that_runs_already_is_left_alone_and_a_missing_one_is_named(
    daemon: Daemon, docker: Docker
) -> None:
    daemon.answers = [(304, b""), GONE]
    await docker.start("x")
    with pytest.raises(NotFound, match="No such container: x"):
        await docker.start("x")


async def test_containers_are_listed_by_all_labels_in_any_state(daemon: Daemon, docker: Docker) -> None:
    listed = [
        {"Id": "1", "State": "running", "Labels": {"a": "b"}},
        {"Id": "2", "State": "paused", "Labels": None},
        {"Id": "3", "State": "exited", "Labels": {}},
    ]
    daemon.answers = [(200, json.dumps(listed).encode())]
    found = await docker.containers({"determined.cluster": "c1", "determined.runs": "/a b"})
    assert found[0] == Status("1", "running", {"a": "b"})
    assert [one.is_running for one in found] == [True, True, False]
    asked = unquote(daemon.heard[0].split()[1])
    assert "all=true" in asked
    assert json.loads(asked.partition("filters=")[2].replace("+", " ")) == {
        "label": ["determined.cluster=c1", "determined.runs=/a b"]
    }


async def test_end_of_a_container_tells_memory_from_other_causes(daemon: Daemon, docker: Docker) -> None:
    state = {"State": {"ExitCode": 137, "OOMKilled": True, "Error": ""}}
    daemon.answers = [(200, json.dumps(state).encode()), GONE]
    assert await docker.ended("x") == Ended(137, True, "")
    assert await docker.ended("x") is None
    assert await docker.find("x") is None


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"", ""),
        (frame(b"one\n") + frame(b"two\n", 2), "one\ntwo"),
        (frame(b"whole\n") + frame(b"cut off")[:-3], "whole\ncut"),
        (frame(b"line\n") + b"\x01\x00", "line"),
        (frame(b"\xff\xfe odd"), "\ufffd\ufffd odd"),
    ],
)
async def test_last_words_of_a_container_are_read_without_dockers_frames(
    daemon: Daemon, docker: Docker, raw: bytes, text: str
) -> None:
    daemon.answers = [(200, raw)]
    assert await docker.last_words("x", lines=3) == text
    assert "tail=3 " in daemon.heard[0]


async def test_words_that_cannot_be_had_are_none(daemon: Daemon, docker: Docker, tmp_path: Path) -> None:
    daemon.answers = [(500, b"")]
    assert await docker.last_words("x") == ""
    assert await Docker(str(tmp_path / "nobody")).last_words("x") == ""


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"plain text", "plain text"),
        (b'["no object"]', "no object"),
        (b"", "Docker answers 500"),
        (b"x" * 999, "x" * 200),
    ],
)
async def test_refusal_in_other_words_than_docker_uses_is_shown_too(
    daemon: Daemon, docker: Docker, body: bytes, words: str
) -> None:
    daemon.answers = [(500, body)]
    with pytest.raises(FailedPrecondition) as refused:
        await docker.create(None, {})
    assert words in refused.value.message
    assert len(refused.value.message) <= 200


async def test_daemon_that_does_not_answer_in_time_is_away(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        api.Docker._call, "__kwdefaults__", {**(api.Docker._call.__kwdefaults__ or {}), "seconds": 0.05}
    )
    held = asyncio.Event()

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await held.wait()
        writer.close()

    silent = f"{daemon.socket}2"
    server = await asyncio.start_unix_server(hold, silent)
    try:
        with pytest.raises(Unavailable, match=r"has not answered in 0\.05 s"):
            await Docker(silent).find("x")
    finally:
        held.set()
        server.close()
        await server.wait_closed()


async def test_names_cannot_change_the_call(daemon: Daemon, docker: Docker) -> None:
    daemon.answers = [GONE]
    assert await docker.find("a b?all=1#c") is None
    assert daemon.heard[0].startswith("GET /containers/a%20b%3Fall%3D1%23c/json ")


def test_story_of_a_fetch_is_read_in_whatever_pieces_it_comes() -> None:
    heard: list[dict[str, object]] = []
    story = b'{"status": "a"}\r\n\r\n{"status": "b", "error": "denied"}\n{"status": "c"}\n'
    for size in (1, 2, 7, len(story)):
        heard.clear()
        lines = api._Lines(heard.append)
        for start in range(0, len(story), size):
            lines.take(story[start : start + size])
        assert ([one["status"] for one in heard], lines.error) == (["a", "b", "c"], "denied"), size


def test_progress_counts_layers_once_and_sizes_only_of_what_has_begun() -> None:
    layers = Layers()
    assert str(layers) == "0 of 0 layers are here, 0 of 0 MiB downloaded so far"
    for said in (
        {}, {"status": "Pulling from x", "id": "latest"}, {"status": "Digest: sha256:1"},
        {"id": "a", "status": "Waiting"}, {"id": "a", "status": "Waiting"},
        {"id": "b", "status": "Downloading", "progressDetail": None},
        {"id": "b", "status": "Downloading", "progressDetail": {"current": None, "total": 4 * 1024**2}},
        {"id": "a", "status": "Already exists"},
    ):  # fmt: skip
        layers.update(said)
    assert str(layers) == "1 of 2 layers are here, 0 of 4 MiB downloaded so far"


@pytest.mark.parametrize(
    ("answers", "has"),
    [
        ([(201, b'{"Id": "p"}'), (204, b""), (200, b'{"StatusCode": 0}'), (204, b"")], True),
        ([(201, b'{"Id": "p"}'), (204, b""), (200, b'{"StatusCode": 1}'), (204, b"")], False),
        ([(201, b'{"Id": "p"}'), (400, b'{"message": "python3: not found"}'), (204, b"")], False),
    ],
    ids=["ours", "another version", "no python"],
)
async def test_image_is_probed_once_and_the_probe_removed(
    daemon: Daemon, docker: Docker, answers: list[tuple[int, bytes]], has: bool
) -> None:
    daemon.answers = answers
    images = Images(docker, {"determined.cluster": "c1"})
    assert await asyncio.gather(*(images.has_determined("sha256:1") for _ in range(3))) == [has] * 3
    assert await images.has_determined("sha256:1") is has
    assert sum("/containers/create" in call for call in daemon.heard) == 1
    assert daemon.heard[-1].startswith("DELETE /containers/p?")


async def test_image_that_was_fetched_and_is_gone_again_is_tried_later(daemon: Daemon, docker: Docker) -> None:
    daemon.answers = [(404, b"{}"), (200, b'{"status": "done"}\n'), (404, b"{}")]
    with pytest.raises(Unavailable, match="image 'x:1' was fetched and is gone again"):
        await Images(docker, {}).ready(Container(image="x:1"), ignore)


async def test_forced_pull_fetches_an_image_that_is_here(daemon: Daemon, docker: Docker) -> None:
    daemon.answers = [(200, b'{"status": "done"}\n'), (200, b'{"Id": "sha256:2"}')]
    assert await Images(docker, {}).ready(Container(image="x:1", force_pull=True), ignore) == "sha256:2"
    assert "/images/create" in daemon.heard[0]
