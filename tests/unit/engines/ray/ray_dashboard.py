"""A loopback stand-in for the Jobs API of a Ray dashboard: what is submitted is RUNNING until a test says otherwise."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class JobsDashboard:
    """`jobs` by submission id, as the API lists them. `token`: what callers must show, where it is set."""

    def __init__(self) -> None:
        self.jobs: dict[str, dict[str, Any]] = {}
        self.stopped: list[str] = []
        self.words = ""
        self.token: str | None = None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def alive(self) -> list[str]:
        return [name for name, job in list(self.jobs.items()) if job["status"] == "RUNNING"]

    def put(self, job: str, **facts: Any) -> None:
        self.jobs[job] = {"submission_id": job, "status": "RUNNING", "start_time": len(self.jobs), **facts}

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, method: str, path: str, body: bytes) -> Any:
        parts = path.strip("/").split("/")
        if method == "GET" and parts[-1] == "logs":
            return {"logs": self.words}
        if method == "GET":
            return list(self.jobs.values())
        if parts[-1] == "stop":
            self.stopped.append(parts[-2])
            self.jobs[parts[-2]]["status"] = "STOPPED"
            return {"stopped": True}
        asked = json.loads(body)
        self.put(asked["submission_id"], entrypoint=asked["entrypoint"], metadata=asked["metadata"])
        return {"submission_id": asked["submission_id"]}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        dashboard = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                known = dashboard.token in (None, (self.headers.get("Authorization") or "").removeprefix("Bearer "))
                text = json.dumps(dashboard.answer(self.command, self.path, body)) if known else "no token"
                self.send_response(200 if known else 401)
                self.end_headers()
                self.wfile.write(text.encode())

            do_POST = do_GET

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler
