"""Download of one image to this machine: retried, with its progress reported to everyone who waits for it."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import Any

from determined.engines.docker.api import Docker
from determined.engines.model import Container
from determined.errors import FailedPrecondition, Unavailable

logger = logging.getLogger(__name__)

# Seconds before a fetch is tried again: a registry may be away for a moment.
_DELAYS = (1.0, 4.0)
_NEWS_SECONDS = 15.0  # between two reports of progress
_MIB = 1024**2

Tell = Callable[[str], None]


class ImagePull:
    def __init__(self, docker: Docker, wanted: Container) -> None:
        self._docker = docker
        self._wanted = wanted
        self._listeners: list[Tell] = []
        self._layers = Layers()
        self._next_news = 0.0

    @contextlib.contextmanager
    def reporting_to(self, tell: Tell) -> Iterator[None]:
        """Call `tell` with the progress for as long as the context lasts."""
        tell(f"image {self._wanted.image} is fetched; the task starts when it is here")
        self._listeners.append(tell)
        try:
            yield
        finally:
            self._listeners.remove(tell)

    async def run(self) -> None:
        """Download the image.

        Raises:
            FailedPrecondition: it cannot be fetched.
            Unavailable: Docker does not answer.
        """
        logger.info("image %s is fetched", self._wanted.image)
        loop = asyncio.get_running_loop()
        begun = loop.time()
        self._next_news = begun + _NEWS_SECONDS
        await self._with_patience()
        self._tell(f"image {self._wanted.image} is here after {loop.time() - begun:.0f} s")

    async def _with_patience(self) -> None:
        for delay in _DELAYS:
            try:
                return await self._pull()
            except (FailedPrecondition, Unavailable) as e:
                self._tell(f"image {self._wanted.image} cannot be fetched yet, trying again: {e.message}")
                await asyncio.sleep(delay)
        try:
            await self._pull()
        except FailedPrecondition as e:
            raise FailedPrecondition(self._problem(e.message)) from e

    async def _pull(self) -> None:
        await self._docker.pull(str(self._wanted.image), self._wanted.registry_auth, self._on_message)

    def _on_message(self, message: dict[str, Any]) -> None:
        self._layers.update(message)
        now = asyncio.get_running_loop().time()
        if now >= self._next_news:
            self._next_news = now + _NEWS_SECONDS
            self._tell(f"image {self._wanted.image}: {self._layers}")

    def _tell(self, text: str) -> None:
        for tell in self._listeners:
            tell(text)

    def _problem(self, why: str) -> str:
        image = self._wanted.image
        lead = "force_pull_image is set, but it" if self._wanted.force_pull else "it is not on this machine and"
        return (
            f"image '{image}': {lead} cannot be fetched: {why}; correct environment.image, or build or fetch it on this"
            f" machine: docker pull {image}"
        )


class Layers:
    """Progress of a download, from the daemon's messages about each layer."""

    def __init__(self) -> None:
        self._sizes: dict[str, tuple[int, int]] = {}  # by layer: what has come, and its size
        self._done: set[str] = set()
        self._all: set[str] = set()

    def update(self, message: dict[str, Any]) -> None:
        layer, status = str(message.get("id") or ""), str(message.get("status") or "")
        if not layer or status.startswith("Pulling from"):
            return
        self._all.add(layer)
        detail = message.get("progressDetail") or {}
        if status in ("Pull complete", "Already exists"):
            self._done.add(layer)
        if status == "Downloading" and detail.get("total"):
            self._sizes[layer] = (int(detail.get("current") or 0), int(detail["total"]))
        elif layer in self._sizes:
            self._sizes[layer] = (self._sizes[layer][1], self._sizes[layer][1])

    def __str__(self) -> str:
        """Return the progress. Sizes are those of the layers that have begun to come."""
        come, size = (sum(pair[i] for pair in self._sizes.values()) // _MIB for i in (0, 1))
        return f"{len(self._done)} of {len(self._all)} layers are here, {come} of {size} MiB downloaded so far"
