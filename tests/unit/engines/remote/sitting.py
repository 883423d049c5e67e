"""Sitters of one test: started as an engine would, watched from outside."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine_rig import TaskRig, eventually

from determined.wire.claim import Order
from determined.wire.codec import to_json


@dataclass(frozen=True, slots=True)
class Sat:
    """One sitter. Its standard input stays open until `let_go`."""

    process: "subprocess.Popen[bytes]"
    log: Path

    @property
    def said(self) -> str:
        return self.log.read_text()

    def let_go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    async def ended(self) -> int:
        await eventually(lambda: self.process.poll() is not None)
        return int(self.process.returncode)


class Sitting(TaskRig):
    def __init__(self, place: Path, *, tls: tuple[Path, Path] | None = None) -> None:
        super().__init__(place, tls=tls)
        self._sat: list[Sat] = []

    def order(self, resource_id: str = "a", **changes: Any) -> Order:
        launch = self.launch(resource_id)
        known = {
            "master_url": self.master.url,
            "allocation_id": launch.allocation_id,
            "ticket": launch.ticket,
            "rank": launch.rank,
            "run_root": str(self.run_root),
        }
        return Order(**{**known, **changes})

    def start(
        self, *options: str, order: Order | bytes | None = None, below: Sequence[str] = (), **environment: str
    ) -> Sat:
        """The order is what is written to it first: as it is, or that of `a`. `below`: what starts it in our stead."""
        log = self.place / f"sitter-{len(self._sat)}.log"
        command = [*below, sys.executable, "-m", "determined.engines.remote.sitter", *options]
        with log.open("wb") as file:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stderr=file, env={**os.environ, **environment, "RIG": str(self.place)}
            )
        sat = Sat(process, log)
        self._sat.append(sat)
        assert process.stdin is not None
        process.stdin.write(order if isinstance(order, bytes) else to_json(order or self.order()) + b"\n")
        process.stdin.flush()
        return sat

    def clean(self) -> None:
        super().clean()
        for sat in self._sat:
            sat.let_go()
            sat.process.wait()
