"""Images on this machine: each is fetched once however many tasks want it, and probed once for determined."""

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from determined._version import __version__
from determined.engines.docker.api import Docker
from determined.engines.docker.image_pull import ImagePull, Tell
from determined.engines.model import Container
from determined.errors import FailedPrecondition, InvalidArgument, NotFound, Unavailable

logger = logging.getLogger(__name__)

_PROBE = """
import sys
import determined._version, determined.exec.runner.main_loop
sys.exit(determined._version.__version__ != sys.argv[1])
"""


class Images:
    def __init__(self, docker: Docker, labels: Mapping[str, str]) -> None:
        """Create it.

        `labels`: of the containers in which images are probed; a master that dies meanwhile leaves one.
        """
        self._docker = docker
        self._labels = labels
        self._working: dict[tuple[str, ...], asyncio.Task[None]] = {}
        self._fetches: dict[tuple[str, ...], ImagePull] = {}
        self._asked: dict[str, bool] = {}  # by id of the image

    async def ready(self, wanted: Container, tell: Tell) -> str:
        """Return the id of the image once it is here. `tell` gets the progress while it is fetched.

        Raises:
            FailedPrecondition: none is named, or it is not here and cannot be fetched.
            Unavailable: Docker does not answer.
        """
        image = wanted.image
        if not image:
            raise FailedPrecondition(
                "no image is named for this task; set environment.image, or task_container_defaults.image for all"
            )
        image_id = None if wanted.force_pull else await self._docker.has_image(image)
        if image_id is None:
            await self._fetch(image, wanted, tell)
            image_id = await self._docker.has_image(image)
        if image_id is None:
            raise Unavailable(f"image '{image}' was fetched and is gone again")
        return image_id

    async def has_determined(self, image_id: str) -> bool:
        """Check whether `python3` of the image has determined of our own version."""
        if image_id not in self._asked:
            await self._together(("ask", image_id), lambda: self._ask(image_id))
        return self._asked[image_id]

    async def close(self) -> None:
        working = list(self._working.values())
        for task in working:
            task.cancel()
        await asyncio.gather(*working, return_exceptions=True)

    async def _fetch(self, image: str, wanted: Container, tell: Tell) -> None:
        # Only with those of the same login: another's may be refused, or open what is not for everybody.
        what = ("fetch", image, json.dumps(wanted.registry_auth, sort_keys=True))
        fetch = self._fetches.setdefault(what, ImagePull(self._docker, wanted))
        with fetch.reporting_to(tell):
            await self._together(what, fetch.run)

    async def _together(self, what: tuple[str, ...], work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Join work that runs already, or start it.

        Shielded: a caller that gives up must not cancel it for the others.
        """
        if what not in self._working:
            task = self._working[what] = asyncio.create_task(work(), name=f"docker {what[0]} {what[1]}")
            task.add_done_callback(lambda done: self._finished(what, done))
        await asyncio.shield(self._working[what])

    def _finished(self, what: tuple[str, ...], done: asyncio.Task[None]) -> None:
        del self._working[what]
        self._fetches.pop(what, None)
        if not done.cancelled():
            done.exception()  # retrieved here as well: all who waited for it may have given up

    async def _ask(self, image_id: str) -> None:
        body = {
            "Image": image_id,
            "Entrypoint": ["python3", "-c", _PROBE, __version__],
            "Cmd": [],
            "User": "0:0",
            "Labels": dict(self._labels),
            "HostConfig": {"NetworkMode": "none"},
        }
        container = await self._docker.create(None, body)
        try:
            self._asked[image_id] = await self._succeeds(container)
        finally:
            await self._docker.remove(container)
        own = "its own determined is used" if self._asked[image_id] else "this machine's is mounted"
        logger.info("image %s: %s", image_id, own)

    async def _succeeds(self, container: str) -> bool:
        try:
            await self._docker.start(container)
        except (FailedPrecondition, InvalidArgument, NotFound):
            return False  # it has no python3
        return await self._docker.wait(container) == 0
