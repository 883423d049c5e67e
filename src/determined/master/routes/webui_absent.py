"""Pages for a browser where the web page or the guide was not built: how to build it, and what to use meanwhile."""

import html
import re

_COMMANDS = [
    (re.compile(r"^/experiments/(\d+)"), "det experiment describe {0}"),
    (re.compile(r"^/trials/(\d+)"), "det trial describe {0} --metrics-summary"),
    (re.compile(r"^/(jobs|clusters|resourcepool)"), "det job list"),
    (re.compile(r"^/(workspaces|projects)"), "det workspace list"),
    (re.compile(r"^/admin"), "det user list"),
]

_FRAME = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Determined</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style nonce="{nonce}">
:root {{ color-scheme: light dark; font-family: system-ui, sans-serif; }}
main {{ max-width: 40rem; margin: 4rem auto; padding: 0 1rem; line-height: 1.5; }}
code {{ padding: .1em .4em; border: 1px solid; border-radius: .3em; }}
</style></head>
<body><main>
<h1>{title}</h1>
{words}</main></body></html>
"""
_NO_PAGE = """<p>This installation has no web page: it was not built. In a checkout of the sources, build it with
<code>make webui</code> and reload. The command that shows <em>{path}</em> meanwhile:</p>
<p><code>{command}</code></p>
<p>The REST API and its description are at <a href="/docs">/docs</a>.</p>
"""
_NO_GUIDE = """<p>This installation has no guide: it was not built. In a checkout of the sources, build it with
<code>make docs</code> and reload. Its text is in the directory <code>docs</code> of the sources.</p>
<p>Commands explain themselves: <code>det --help</code>. The REST API is described at <a href="/docs">/docs</a>.</p>
"""


def absent_page(path: str, nonce: str) -> str:
    """Write the HTML for a path below /det."""
    words = _NO_PAGE.format(path=html.escape(path), command=html.escape(_command_for(path)))
    return _FRAME.format(title="Determined is running", words=words, nonce=nonce)


def absent_guide(nonce: str) -> str:
    """Write the HTML for any path below /docs/guide."""
    return _FRAME.format(title="The guide is missing", words=_NO_GUIDE, nonce=nonce)


def _command_for(path: str) -> str:
    for pattern, command in _COMMANDS:
        match = pattern.match(path)
        if match:
            return command.format(*match.groups())
    return "det experiment list"
