"""Connection of this process to the master, opened when something first needs it, patient while it is away."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from determined._backoff import Backoff
from determined._info import ClusterInfo
from determined.core import _environment
from determined.errors import MasterNotFound, Unavailable

if TYPE_CHECKING:
    from determined.api.session import Session

logger = logging.getLogger("determined.core")

T = TypeVar("T")

_MASTER_AWAY = Backoff(first=1.0, limit=10.0)


@dataclass(frozen=True, slots=True)
class _Address:
    """Address of the master, and the token for it."""

    url: str
    token: str = field(repr=False)
    cert_file: str | None
    cert_name: str | None


class Master:
    """A lazily opened `api.Session` with the task's token, which only the master that minted it gets to see.

    Most scripts never need it (reports go through the journal), so the HTTP library is loaded on first use. A master
    that came back at another address has launch.json rewritten; it is read again whenever nobody answers.
    """

    def __init__(
        self, info: ClusterInfo, sleep: Callable[[float], None] = time.sleep, session: "Session | None" = None
    ) -> None:
        self._allocation_id = info.allocation_id
        self._is_unmanaged = info._is_unmanaged
        self._address = _Address(info.master_url, info.session_token, info.master_cert_file, info.master_cert_name)
        self._sleep = sleep
        self._session = session

    @property
    def session(self) -> "Session":
        if self._session is None and self._is_unmanaged:
            from determined.api.login import cert_for
            from determined.api.session import Session

            url = self._address.url
            self._session = Session(url, token=self._address.token, cert=cert_for(url), **_environment.retry_settings())
        elif self._session is None:
            from determined.api.session import CertSpec, Session

            self._session = Session(
                self._address.url,
                token=self._address.token,
                allocation_token=True,
                allocation_id=self._allocation_id,
                cert=CertSpec(self._address.cert_file, self._address.cert_name),
                **_environment.retry_settings(),
            )
        return self._session

    def insist(self, call: Callable[["Session"], T], what: str, *, after: Callable[[], bool] = lambda: True) -> T:
        """`call(session)`, again and again while the master is away: only its answer lets training go on.

        `after` says whether the master has everything this call must follow; until then it is not made.
        """
        delays = _MASTER_AWAY.delays()
        while True:
            try:
                if after():
                    return call(self.session)
                logger.warning("%s waits for the master to get earlier reports", what)
            except (MasterNotFound, Unavailable) as err:
                logger.warning("%s waits for the master: %s", what, err)
                self._look_for_news()
            self._sleep(next(delays))

    def close(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def _look_for_news(self) -> None:
        from determined.rundir.layout import RunDir
        from determined.wire.codec import from_json
        from determined.wire.report import LaunchFile

        try:
            launch = from_json(RunDir(_environment.run_dir()).launch.read_bytes(), LaunchFile)
        except (OSError, ValueError):
            return  # no runner here, or it is just being replaced: what we know stays good
        # The certificate travels with the task; only where the master is and the token are its engine's to say.
        news = replace(self._address, url=launch.master_url.rstrip("/"), token=launch.token)
        if launch.allocation_id == self._allocation_id and news != self._address:
            logger.warning("the master is at %s now", news.url)
            self.close()
            self._address = news
