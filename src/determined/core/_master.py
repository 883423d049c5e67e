"""This process's conversation with the master, opened when something first needs it, patient while it is away."""

import logging
import time
from collections.abc import Callable
from typing import Any, TypeVar

from determined._info import ClusterInfo
from determined.core import _environment
from determined.errors import MasterNotFound, Unavailable

logger = logging.getLogger("determined.core")

T = TypeVar("T")


class Master:
    """A lazily opened `api.Session` with the task's token.

    Most scripts never need it (reports go through the journal), so the HTTP library is loaded on first use.
    """

    def __init__(self, info: ClusterInfo, sleep: Callable[[float], None] = time.sleep) -> None:
        self._info = info
        self._sleep = sleep
        self._session: Any = None

    @property
    def session(self) -> Any:
        if self._session is None:
            from determined.api.session import CertSpec, Session

            self._session = Session(
                self._info.master_url,
                token=self._info.session_token,
                allocation_token=True,
                cert=CertSpec(self._info.master_cert_file, self._info.master_cert_name),
                **_environment.retry_settings(),
            )
        return self._session

    def insist(self, call: Callable[[Any], T], what: str) -> T:
        """`call(session)`, again and again while the master is away: only its answer lets training go on."""
        pause = 1.0
        while True:
            try:
                return call(self.session)
            except (MasterNotFound, Unavailable) as err:
                logger.warning("%s waits for the master: %s", what, err)
            self._sleep(pause)
            pause = min(pause * 2, 10.0)

    def close(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None
