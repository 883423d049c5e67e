"""The app behind the proxies of tasks.py: `/` answers two bytes, `/big/N` N MiB. `python tasks_app.py PORT`."""

import asyncio
import sys

_CHUNK = bytes(1024 * 1024)
_OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ", 2)[1]
            if b"/big/" in path:
                await _send_big(writer, int(path.rpartition(b"/")[2]))
            else:
                writer.write(_OK)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def _send_big(writer: asyncio.StreamWriter, mebibytes: int) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % (mebibytes * len(_CHUNK)))
    for _ in range(mebibytes):
        writer.write(_CHUNK)
        await writer.drain()


async def main(port: int) -> None:
    async with await asyncio.start_server(serve, "127.0.0.1", port) as server:
        print("serving", flush=True)
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
