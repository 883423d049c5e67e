"""Look for the traces that an attack would leave in a page, if one of `populated` worked."""

from playwright.sync_api import BrowserContext, Page
from populated import TURNED

# a page that a policy protected was attacked all the same: it must not even come to that
_LISTEN = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (e) =>
    window.violations.push(`${e.effectiveDirective} ${e.blockedURI} ${e.sample} ${e.sourceFile}:${e.lineNumber}`));
"""
_LIVING = (
    "img[src='x'], a[href^='javascript' i], a[href^='data:' i], iframe, main style, main form[action], body script"
)
# Words that turn the direction of writing must not turn what stands behind them: their element bounds them and ends
# with them. What is laid out by flex or grid is bounded anyway.
_LOOK = """([living, turned]) => {
    const faults = [...document.querySelectorAll(living)].map((el) => `alive: ${el.outerHTML.slice(0, 200)}`);
    for (const el of document.querySelectorAll("body *")) {
        if ([...el.attributes].some(({ name }) => name.startsWith("on"))) faults.push(`handler: ${told(el)}`);
    }
    const words = (node) => (node.textContent ?? "").trim() !== "";
    const isInline = (node) => node.nodeType === 3 || getComputedStyle(node).display.startsWith("inline");
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const node = walker.currentNode;
        const at = node.data.lastIndexOf(turned);
        const holder = node.parentElement;
        if (at < 0 || holder.closest("script, style, textarea, option, .visually-hidden")) continue;
        const style = getComputedStyle(holder);
        const isBounded = style.display !== "inline" || /isolate|plaintext/.test(style.unicodeBidi);
        if (!isBounded) faults.push(`unbounded: ${told(holder)}`);
        if (/flex|grid/.test(style.display)) continue;
        const rest = node.data.slice(at + turned.length);
        if (/[\\p{L}\\p{N}]/u.test(rest)) faults.push(`turns its own end: ${told(holder)}`);
        for (let next = node.nextSibling; next; next = next.nextSibling) {
            if (words(next) && isInline(next)) faults.push(`turns what follows: ${told(holder)}`);
        }
    }
    if (window.stolen !== undefined) faults.push("a script ran");
    return [...faults, ...window.violations.map((text) => `violated: ${text}`)];

    function told(el) { return `${el.tagName} ${el.className} ${el.textContent.slice(0, 120)}`; }
}"""


def listen_to_violations(context: BrowserContext) -> None:
    context.add_init_script(_LISTEN)


def assert_inert(page: Page) -> None:
    """Needs `listen_to_violations` on the context before the page is opened."""
    faults = page.evaluate(_LOOK, [_LIVING, TURNED])
    assert not faults, f"{page.url}:\n" + "\n".join(dict.fromkeys(faults))
