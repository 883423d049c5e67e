"""Connections of webhooks: kept for several requests where the receiver lets us, and never trusted after it closed."""

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest

from determined.master.services.webhook_address import AddressRefused, AddressRule, Unreachable
from determined.master.services.webhook_send import ReceiverConnection

LOOPBACK = AddressRule((ipaddress.ip_network("127.0.0.1/32"),))
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
LAST = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"


@dataclass
class Server:
    """Answers the requests of a connection with these bytes, one each; then it closes the connection."""

    answers: list[bytes]
    url: str = ""
    bodies: list[list[bytes]] = field(default_factory=list)  # of each connection

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        bodies: list[bytes] = []
        self.bodies.append(bodies)
        for answer in self.answers:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                bodies.append(await reader.readexactly(length))
            except (asyncio.IncompleteReadError, ConnectionError):
                break
            writer.write(answer)
        writer.close()


def talk(answers: list[bytes], with_it: Callable[[Server, ReceiverConnection], Awaitable[None]]) -> list[list[bytes]]:
    """Return the bodies that a server got, by connection."""

    async def run() -> list[list[bytes]]:
        server = Server(answers)
        listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
        server.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/"
        connection = ReceiverConnection(LOOPBACK)
        try:
            await with_it(server, connection)
        finally:
            connection.close()
            listener.close()
        return server.bodies

    return asyncio.run(run())


async def post_three(server: Server, connection: ReceiverConnection) -> None:
    for body in (b"a", b"b", b"c"):
        assert (await connection.post(server.url, body, {})).text == "ok"
        await asyncio.sleep(0.05)  # what the server sends behind its answer, or its end, has come


def test_requests_share_a_connection_that_the_receiver_keeps() -> None:
    assert talk([OK] * 9, post_three) == [[b"a", b"b", b"c"]]


def test_a_receiver_that_closes_gets_a_new_connection() -> None:
    assert talk([LAST] * 9, post_three) == [[b"a"], [b"b"], [b"c"]]
    assert talk([OK], post_three) == [[b"a"], [b"b"], [b"c"]], "also one that closes without a word"


@pytest.mark.parametrize("more", [OK, b"xx", b"\r\n\r\nxx", SWITCH])
def test_bytes_that_nobody_asked_for_are_not_taken_for_the_next_answer(more: bytes) -> None:
    assert talk([OK + more] * 9, post_three) == [[b"a"], [b"b"], [b"c"]]


def test_late_bytes_that_nobody_asked_for_are_not_taken_for_the_next_answer() -> None:
    async def post_two(server: Server, connection: ReceiverConnection) -> None:
        await connection.post(server.url, b"a", {})
        assert connection._streams is not None
        connection._streams[0].feed_data(b"HTTP/1.1 500 Broken\r\n\r\n")
        assert (await connection.post(server.url, b"b", {})).status == 200

    assert talk([OK] * 9, post_two) == [[b"a"], [b"b"]]


def test_a_request_that_meets_a_closing_connection_is_sent_over_a_new_one() -> None:
    async def post_two(server: Server, connection: ReceiverConnection) -> None:
        await connection.post(server.url, b"a", {})
        assert (await connection.post(server.url, b"b", {})).text == "ok"

    assert talk([OK, b""], post_two) == [[b"a", b"b"], [b"b"]]


def test_a_new_connection_without_an_answer_is_a_failure() -> None:
    async def fail(server: Server, connection: ReceiverConnection) -> None:
        with pytest.raises(Unreachable):
            await connection.post(server.url, b"a", {})

    assert talk([b""], fail) == [[b"a"]]


@pytest.mark.parametrize("answer", [SWITCH, SWITCH + OK, b"HTTP/1.1 100 Continue\r\n\r\n" + SWITCH])
def test_a_receiver_that_switches_protocols_refuses(answer: bytes) -> None:
    async def fail(server: Server, connection: ReceiverConnection) -> None:
        for body in (b"a", b"b"):
            with pytest.raises(Unreachable, match="the receiver answers 101"):
                await connection.post(server.url, body, {})

    assert talk([answer] * 9, fail) == [[b"a"], [b"b"]]


def test_another_address_is_checked_and_gets_its_own_connection() -> None:
    async def change(server: Server, connection: ReceiverConnection) -> None:
        await connection.post(server.url, b"a", {})
        with pytest.raises(AddressRefused):
            await connection.post(server.url.replace("127.0.0.1", "127.0.0.2"), b"b", {})
        await connection.post(server.url, b"c", {})

    assert talk([OK] * 9, change) == [[b"a"], [b"c"]]
