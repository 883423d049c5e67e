"""Makes the built site fit for the master: nothing its policy forbids, nothing unused, text compressed.

The policy (`routes/static_response.py`) runs no script and applies no style sheet that stands inside a page.
"""

import gzip
import hashlib
import os
import re
import shutil
from pathlib import Path

# What only a web server with a site map, or the theme that was not chosen, would use. 404.html has absolute paths.
UNUSED = ("404.html", "objects.inv", "sitemap.xml", "sitemap.xml.gz", "assets/stylesheets/classic")
COMPRESSED = (".css", ".html", ".js", ".json", ".svg")
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
# The search dialog puts its style sheet into a shadow root as text.
_INJECTED = re.compile(r"(\w+)\.appendChild\(\w+\(\"style\",\{\},(\w+)\.toString\(\)\)\)")
_ADOPTED = r"(s=>{s.replaceSync(\2),\1.adoptedStyleSheets=[s]})(new CSSStyleSheet)"


def finish(site: Path) -> None:
    """Change the site in place.

    Raises: OSError where the generator's script is not the one this was written for.
    """
    for name in UNUSED:
        _remove(site / name)
    old, new = _adopt_style_sheet(site / "assets" / "javascripts")
    for page in site.rglob("*.html"):
        text = _without_inline_scripts(page.read_text(), page, site)
        page.write_text(text.replace(old, new))
    for path in [path for path in site.rglob("*") if path.suffix in COMPRESSED]:
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))


def _adopt_style_sheet(scripts: Path) -> tuple[str, str]:
    """Let the bundle hand its style sheet to the browser as an object, and name it anew: (old name, new name)."""
    bundle = next(scripts.glob("bundle.*.min.js"))
    code, changed = _INJECTED.subn(_ADOPTED, bundle.read_text())
    if changed != 1:
        raise OSError(f"{bundle.name} injects {changed} style sheets instead of one; adapt scripts/guide/finish.py")
    renamed = scripts / f"bundle.{_digest(code)}.min.js"
    bundle.unlink()
    renamed.write_text(code)
    return bundle.name, renamed.name


def _without_inline_scripts(text: str, page: Path, site: Path) -> str:
    """Move each script into a file that pages share."""

    def moved(match: re.Match[str]) -> str:
        target = site / "assets" / "javascripts" / f"page.{_digest(match[1])}.js"
        target.write_text(match[1])
        return f'<script src="{os.path.relpath(target, page.parent)}"></script>'

    return _INLINE.sub(moved, text)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
