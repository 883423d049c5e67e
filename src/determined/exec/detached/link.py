"""Requests of a run outside of the cluster to its master, with its user's token.

`Unavailable` means try again later, as for runners (exec/master_link.py).
"""

import logging

from determined.api import environment, own_master
from determined.api.login import login
from determined.api.session import CertSpec, Session
from determined.api.token_store import TokenStore
from determined.errors import BadMaster, DeterminedError, MasterNotFound, TooManyRequests, Unauthenticated, Unavailable
from determined.rundir.detached import DetachedFile
from determined.wire.report import POST_UNMANAGED_REPORTS
from determined.wire.trial import PATCH_TRIAL, PatchTrialRequest, TrialState

logger = logging.getLogger(__name__)

_AWAY = (MasterNotFound, BadMaster, TooManyRequests)


class DetachedLink:
    """Link of one trial to its master, thread-safe."""

    def __init__(self, file: DetachedFile) -> None:
        self._file = file
        self._cert = None
        if file.cert_file or file.cert_name or file.cert_pinned:
            self._cert = CertSpec(file.cert_file, file.cert_name, file.cert_pinned)
        self._session = self._opened(file.token)

    def report(self, batch: bytes) -> bytes:
        """Post a batch of records and return the answer."""
        path = POST_UNMANAGED_REPORTS.at(trial_id=self._file.trial_id, run_id=self._file.run_id)
        try:
            return self._session.raw("POST", path, batch, headers={"Content-Type": "application/msgpack"}).data
        except DeterminedError as e:
            raise self._explained(e) from e

    def set_state(self, state: str | None) -> str:
        """Give a sign of life, with or without a new state; return the state that the trial has now."""
        request = PatchTrialRequest(
            trial_id=self._file.trial_id, state=None if state is None else TrialState(f"STATE_{state}")
        )
        try:
            answer = self._session.call(PATCH_TRIAL, request, trial_id=self._file.trial_id)
        except DeterminedError as e:
            raise self._explained(e) from e
        return answer.trial.state.removeprefix("STATE_")

    def _opened(self, token: str) -> Session:
        return Session(self._file.master_url, token=token, cert=self._cert, username=self._file.username, retries=0)

    def _explained(self, error: DeterminedError) -> DeterminedError:
        """Return the error; one that may pass as Unavailable."""
        if isinstance(error, Unauthenticated):
            self._log_in_again()
            return Unavailable(f"the master takes this token no more: {error}")
        if isinstance(error, _AWAY):
            return Unavailable(str(error))
        if type(error) is DeterminedError:
            return Unavailable(str(error), defect=True)
        return error

    def _log_in_again(self) -> None:
        """Look for a newer token: runs may last longer than logins."""
        url, name = self._session.master_url, self._file.username or ""
        token = TokenStore(url, environment.config_dir()).token(name)
        if token is None or token == self._session.token:
            token = self._own_token(url, name)
        if token is not None and token != self._session.token:
            self._session = self._opened(token)

    def _own_token(self, url: str, name: str) -> str | None:
        own = own_master.at(url, environment.state_dir())
        if own is None:
            return None
        try:
            return login(url, name, own.password, cert=self._cert)
        except DeterminedError as e:
            logger.warning("cannot log in again as %s: %s", name, e)
            return None
