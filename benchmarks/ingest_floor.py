"""The least that a server can do which keeps what it acknowledges: asyncio, one connection to SQLite, nothing else.

    python benchmarks/ingest_floor.py DATABASE

It reads the same bodies as the master, decodes them, writes a row for each value or line in one transaction for each
body, and answers after the commit. It knows no users, no trials, no positions; what is sent twice is stored twice.
It prints its port.
"""

import asyncio
import sqlite3
import sys

import msgspec

from determined.wire.report import LogLine, MetricReport, ReportBatch

_TABLES = """
PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;
CREATE TABLE value_ (source TEXT, step INTEGER, name TEXT, value REAL, time REAL);
CREATE TABLE line (source TEXT, time REAL, level TEXT, rank INTEGER, text TEXT);
"""
_decoder = msgspec.msgpack.Decoder(ReportBatch)
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}"


async def main(database: str) -> None:
    connection = sqlite3.connect(database, isolation_level=None)
    connection.executescript(_TABLES)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await _head(reader):
            _store(connection, await reader.readexactly(_length(head)))
            writer.write(_ANSWER)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""


def _length(head: bytes) -> int:
    lines = (line.partition(b":") for line in head.split(b"\r\n"))
    return next(int(value) for name, _, value in lines if name.lower() == b"content-length")


def _store(connection: sqlite3.Connection, body: bytes) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for segment in _decoder.decode(body).segments:
        values = [
            (segment.source, r.steps, name, value, r.time)
            for r in segment.records
            if isinstance(r, MetricReport)
            for name, value in r.metrics.items()
        ]
        connection.executemany("INSERT INTO value_ VALUES (?, ?, ?, ?, ?)", values)
        lines = [(segment.source, r.time, r.level, r.rank, r.text) for r in segment.records if isinstance(r, LogLine)]
        connection.executemany("INSERT INTO line VALUES (?, ?, ?, ?, ?)", lines)
    connection.execute("COMMIT")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
