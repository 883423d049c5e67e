// Markdown to clean HTML. A lazy chunk: only Markdown.tsx loads it.
import DOMPurify from "dompurify";
import { Marked } from "marked";

// style and id could restyle or shadow parts of the page; forms could post somewhere; media could load from elsewhere
const FORBID_TAGS = ["style", "form", "input", "button", "iframe", "video", "audio", "object", "embed", "svg", "math"];
const FORBID_ATTR = ["style", "id", "class", "name", "srcset"];
// Of HTML in notes only tags without attributes are taken; the rest is shown as it was written. DOMPurify would remove
// it too, but the browser reports every handler and style it meets on the way as a breach of the page's policy.
const NO_PLAIN_TAG =
  /<(?!\/?(?:b|br|dd|del|details|dl|dt|em|hr|i|ins|kbd|mark|p|s|small|strong|sub|summary|sup|u)\s*\/?>)/gi;
const parser = new Marked({
  gfm: true,
  breaks: false,
  renderer: { html: ({ text }) => text.replace(NO_PLAIN_TAG, "&lt;") },
});

export function markdownHtml(text: string): string {
  const dirty = parser.parse(text, { async: false });
  const clean = DOMPurify.sanitize(dirty, { FORBID_TAGS, FORBID_ATTR, RETURN_DOM_FRAGMENT: true });
  for (const link of clean.querySelectorAll("a")) {
    link.setAttribute("rel", "noopener noreferrer nofollow");
    link.setAttribute("target", "_blank");
  }
  for (const image of clean.querySelectorAll("img")) replaceForeign(image);
  const holder = document.createElement("div");
  holder.append(clean);
  return holder.innerHTML;
}

/** An image from another origin would tell that origin who reads the note; it becomes a link. */
function replaceForeign(image: HTMLImageElement): void {
  const source = image.getAttribute("src") ?? "";
  if (source.startsWith("data:image/") || (source.startsWith("/") && !source.startsWith("//"))) return;
  const link = document.createElement("a");
  link.href = /^https?:/.test(source) ? source : "#";
  link.rel = "noopener noreferrer nofollow";
  link.target = "_blank";
  link.textContent = image.alt || source;
  image.replaceWith(link);
}
