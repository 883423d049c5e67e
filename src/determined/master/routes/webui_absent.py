"""What a browser sees where no web page was built: how to build it, and which command shows the same thing."""

import html
import re

_COMMANDS = [
    (re.compile(r"^/experiments/(\d+)"), "det experiment describe {0}"),
    (re.compile(r"^/trials/(\d+)"), "det trial describe {0} --metrics-summary"),
    (re.compile(r"^/(jobs|clusters|resourcepool)"), "det job list"),
    (re.compile(r"^/(workspaces|projects)"), "det workspace list"),
    (re.compile(r"^/admin"), "det user list"),
]

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Determined</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style nonce="{nonce}">
:root {{ color-scheme: light dark; font-family: system-ui, sans-serif; }}
main {{ max-width: 40rem; margin: 4rem auto; padding: 0 1rem; line-height: 1.5; }}
code {{ padding: .1em .4em; border: 1px solid; border-radius: .3em; }}
</style></head>
<body><main>
<h1>Determined is running</h1>
<p>This installation has no web page: it was not built. In a checkout of the sources, build it with
<code>make webui</code> and reload. The command that shows <em>{path}</em> meanwhile:</p>
<p><code>{command}</code></p>
<p>The REST API and its description are at <a href="/docs">/docs</a>.</p>
</main></body></html>
"""


def absent_page(path: str, nonce: str) -> str:
    """HTML for a path below /det."""
    return _PAGE.format(path=html.escape(path), command=html.escape(_command_for(path)), nonce=nonce)


def _command_for(path: str) -> str:
    for pattern, command in _COMMANDS:
        found = pattern.match(path)
        if found:
            return command.format(*found.groups())
    return "det experiment list"
