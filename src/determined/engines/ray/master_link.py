"""Link of the bridge to the master: enrolled once, every message sealed from then on. Blocking; used by two threads."""

import itertools
import logging
import threading
import time
from collections.abc import Callable

from determined.engines.remote.claim import Master
from determined.errors import DeterminedError, Unavailable
from determined.wire.bridge import (
    ENROL_BRIDGE,
    EXCHANGE_WITH_BRIDGE,
    BridgeOrder,
    Enrolment,
    EnrolRequest,
    Message,
    Sealed,
    View,
    Wishes,
    enrol_proof,
    seal,
    unseal,
)
from determined.wire.claim import Order
from determined.wire.codec import from_json, to_json

logger = logging.getLogger(__name__)

_WAIT_SECONDS = 5.0  # less than the patience of a connection
_REST_SECONDS = 1.0
_ENROL_SECONDS = 60.0


class MasterLink(Master):
    def __init__(self, order: BridgeOrder) -> None:
        where = Order(
            master_url=order.master_url,
            allocation_id="",
            ticket="",
            master_cert=order.master_cert,
            master_cert_name=order.master_cert_name,
        )
        super().__init__(where)
        self._order = order
        self._key = ""
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    def enrol(self, versions: dict[str, str]) -> Enrolment:
        """Enrol this bridge.

        Raises the master's own error when it refuses; Unavailable when it does not answer, for it sends another bridge
        then.
        """
        request = to_json(EnrolRequest(job=self._order.job, proof=self._proof(), **versions))
        answer = _persistently(lambda: self._post(ENROL_BRIDGE.at(engine=self._order.engine), request, {}))
        enrolment = from_json(answer, Enrolment)
        self._key = enrolment.key
        return enrolment

    def _proof(self) -> str:
        return enrol_proof(self._order.ticket, self._order.job, self.address)

    def tell(self, view: View) -> Wishes:
        """Send the view and return the master's wishes. Raises Unavailable when no trusted master answers."""
        return self._exchange(Message(number=0, view=view))

    def ask(self, known: tuple[str, int]) -> Wishes:
        """Return wishes other than the `known` ones, or the same after a while. Raises as `tell`."""
        return self._exchange(Message(number=0, known=known, wait_seconds=_WAIT_SECONDS))

    def _exchange(self, message: Message) -> Wishes:
        with self._lock:
            message.number = next(self._numbers)
        sealed = to_json(seal(self._key, self._order.job, message, self.address))
        try:
            answer = from_json(self._post(EXCHANGE_WITH_BRIDGE.at(engine=self._order.engine), sealed, {}), Sealed)
            wishes = unseal(self._key, answer, Wishes, self.address)
        except DeterminedError as e:
            # The error is not sealed, so it may not be the master's: no runner is ended because of it.
            raise Unavailable(e.message) from e
        except ValueError as e:
            raise Unavailable(f"whoever answers is not the master: {e}") from e
        if wishes.answers != message.number:
            raise Unavailable("an answer to another message came")
        return wishes


def _persistently(call: Callable[[], bytes]) -> bytes:
    deadline = time.monotonic() + _ENROL_SECONDS
    while True:
        try:
            return call()
        except Unavailable as e:
            if time.monotonic() > deadline:
                raise
            logger.warning("%s; trying again", e.message)
            time.sleep(_REST_SECONDS)
