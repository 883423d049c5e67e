"""Proxy on the way to a master, as people write it into `http_proxy`: also without a scheme, or with a login."""

from urllib.parse import unquote, urlsplit

import urllib3


def proxy_of(scheme: str, host: str) -> str | None:
    """Return the proxy that the environment names for a host, if any."""
    from urllib.request import getproxies, proxy_bypass  # a twentieth of what a command imports

    return None if proxy_bypass(host) else getproxies().get(scheme)


def behind(proxy: str, scheme: str, options: dict[str, object]) -> urllib3.ProxyManager:
    """Return connections to masters of that scheme through the proxy. Raises ValueError for one of another kind."""
    parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    if parts.scheme not in ("http", "https"):
        raise ValueError(
            f"{scheme}_proxy names a {parts.scheme} proxy; name an http or https proxy, or the master in no_proxy"
        )
    headers = None
    if parts.username is not None:  # urllib3 leaves the login out
        login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers = urllib3.make_headers(proxy_basic_auth=login)
    return urllib3.ProxyManager(parts.geturl(), proxy_headers=headers, **options)  # type: ignore[arg-type]
