"""WebSocket to `/stream` of a master, over the HTTP client's own connections."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack

from websockets.exceptions import InvalidHandshake, WebSocketException
from websockets.sync.client import ClientConnection, connect

from determined._backoff import Backoff
from determined.api.session import Session

_ATTEMPTS = 5
_AWAY = Backoff(first=0.5, limit=10.0)
_LARGEST = 128 * 1024 * 1024  # bytes of a message


class StreamWebSocket(ABC):
    """Connection of a `Stream`, which opens it again whenever it ends."""

    @abstractmethod
    def connect(self) -> Iterator[str]:
        """Connect and yield messages. Raises ConnectionError."""

    @abstractmethod
    def send_text(self, text: str) -> None: ...

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def get_backoff(self, retries: int) -> float | None:
        """Return seconds to wait before another try; None to give up."""


class LomondStreamWebSocket(StreamWebSocket):
    """WebSocket with the token of a session. The name is that of a library that upstream uses."""

    def __init__(self, sess: Session) -> None:
        self._session = sess
        self._socket: ClientConnection | None = None
        self._opening = ExitStack()

    def connect(self) -> Iterator[str]:
        self._socket = self._opened()
        return self._messages(self._socket)

    def send_text(self, text: str) -> None:
        if self._socket is not None:
            self._socket.send(text)

    def close(self) -> None:
        self._opening.close()
        self._socket = None

    def get_backoff(self, retries: int) -> float | None:
        return _AWAY.delay(retries) if retries < _ATTEMPTS else None

    def _opened(self) -> ClientConnection:
        self._opening.close()  # the connection before, if any
        connection = self._session.connection()
        # TLS, if any, is part of the connection already: hence ws, whatever the scheme of the master
        url = "ws" + self._session.master_url.removeprefix("https").removeprefix("http")
        headers = {"Authorization": f"Bearer {self._session.token}"}
        connection.sock.settimeout(None)
        try:
            opening = connect(f"{url}/stream", sock=connection.sock, additional_headers=headers, max_size=_LARGEST)
            return self._opening.enter_context(opening)
        except (InvalidHandshake, WebSocketException, OSError, TimeoutError) as err:
            connection.close()
            raise ConnectionError(f"{self._session.master_url} opens no stream: {err}") from err

    def _messages(self, socket: ClientConnection) -> Iterator[str]:
        try:
            for message in socket:
                yield message if isinstance(message, str) else message.decode()
        except (WebSocketException, OSError) as err:
            raise ConnectionError(f"the stream broke off: {err}") from err
