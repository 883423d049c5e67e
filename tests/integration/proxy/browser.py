"""A browser, as far as the proxy can tell: cookies by host and path, Sec-Fetch headers, redirections."""

import http.client
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urljoin, urlsplit

NAVIGATE = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", "Accept": "text/html"}


@dataclass
class Page:
    url: str
    status: int
    headers: http.client.HTTPMessage
    text: str


@dataclass
class Browser:
    """`address`: where all hosts of the tests are."""

    address: str
    jar: dict[tuple[str, str, str], str] = field(default_factory=dict)  # (host, path, name) -> value

    def open(self, url: str, *, hops: int = 5, site: str = "none") -> Page:
        """Navigate, following redirections."""
        page = self.request("GET", url, {**NAVIGATE, "Sec-Fetch-Site": site})
        while page.status in (301, 302, 303, 307) and hops:
            hops -= 1
            target = urljoin(url, page.headers["Location"])
            site = "same-origin" if _origin(target) == _origin(url) else "cross-site"
            url = target
            page = self.request("GET", url, {**NAVIGATE, "Sec-Fetch-Site": site})
        return page

    def fetch(self, page: Page, url: str, method: str = "GET", site: str | None = None, **headers: str) -> Page:
        """A request that the scripts of a page make."""
        target = urljoin(page.url, url)
        own, asked = _origin(page.url), _origin(target)
        same = "same-origin" if own == asked else "cross-site"
        sent = {"Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty", "Sec-Fetch-Site": site or same}
        if same != "same-origin" or method not in ("GET", "HEAD"):
            sent["Origin"] = own
        return self.request(method, target, {**sent, **headers})

    def request(self, method: str, url: str, headers: dict[str, str]) -> Page:
        parts = urlsplit(url)
        sent = {"Host": parts.netloc, **headers}
        if cookies := self.cookies_for(url):
            sent["Cookie"] = cookies
        connection = http.client.HTTPConnection(self._real(parts.port), timeout=60)
        try:
            connection.request(method, parts.path + (f"?{parts.query}" if parts.query else ""), headers=sent)
            answer: Any = connection.getresponse()
            page = Page(url, answer.status, answer.headers, answer.read().decode(errors="replace"))
        finally:
            connection.close()
        for line in page.headers.get_all("Set-Cookie") or []:
            self._keep(parts.hostname or "", line)
        return page

    def cookies_for(self, url: str) -> str:
        parts = urlsplit(url)
        found = [
            f"{name}={value}"
            for (host, path, name), value in self.jar.items()
            if host == parts.hostname and parts.path.startswith(path)
        ]
        return "; ".join(found)

    def _real(self, port: int | None) -> str:
        return f"127.0.0.1:{port}"

    def _keep(self, host: str, line: str) -> None:
        for name, cookie in SimpleCookie(line).items():
            self.jar[host, cookie["path"] or "/", name] = cookie.value


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
