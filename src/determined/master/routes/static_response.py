"""Responses for the files of the web page and of the guide: one content security policy, two ways of caching."""

from litestar import MediaType, Response

from determined.master.routes.webui_files import WebFile

_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'{styles}; img-src 'self' data: blob:; "
    "connect-src 'self'; worker-src 'self'; frame-ancestors 'self'; base-uri 'none'; form-action 'self'; "
    "object-src 'none'"
)
_GUARDED = {
    "X-Frame-Options": "SAMEORIGIN",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
KEPT_A_YEAR = "public, max-age=31536000, immutable"
ASKED_FOR_EACH_TIME = "no-cache"


def html_response(text: str, nonce: str) -> Response[bytes]:
    """Answer with a page whose style sheets carry this nonce."""
    headers = {
        **_GUARDED,
        "Content-Security-Policy": _POLICY.format(styles=f" 'nonce-{nonce}'"),
        "Cache-Control": ASKED_FOR_EACH_TIME,
    }
    return Response(text.encode(), media_type=MediaType.HTML, headers=headers)


def file_response(file: WebFile, caching: str) -> Response[bytes]:
    """Answer with a file as it was built."""
    headers = {
        **_GUARDED,
        "Content-Security-Policy": _POLICY.format(styles=""),  # a worker runs under the policy of its own script
        "Cache-Control": caching,
        "Vary": "Accept-Encoding",
    }
    if file.encoding:
        headers["Content-Encoding"] = file.encoding
    return Response(file.content, media_type=file.kind, headers=headers)
