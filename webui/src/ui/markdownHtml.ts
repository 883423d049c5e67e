// Markdown to clean HTML. A lazy chunk: only Markdown.tsx loads it.
import DOMPurify from "dompurify";
import { marked } from "marked";

// style and id could restyle or shadow parts of the page; forms could post somewhere; media could load from elsewhere
const FORBID_TAGS = ["style", "form", "input", "button", "iframe", "video", "audio", "object", "embed", "svg", "math"];
const FORBID_ATTR = ["style", "id", "class", "name", "srcset"];

export function markdownHtml(text: string): string {
  const dirty = marked.parse(text, { async: false, gfm: true, breaks: false });
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
