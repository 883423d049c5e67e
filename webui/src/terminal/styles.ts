// xterm.js styles the page by style elements and style attributes, and can be told neither the nonce that the page's
// policy asks of the first nor to leave the second, which it forbids. So while a terminal is shown, the document gives
// the nonce to style elements, and spans take a style attribute as an object, which is allowed.

let shown = 0;

/** Answers how to take it back. */
export function allowStyles(): () => void {
  shown += 1;
  if (shown === 1) install();
  return () => {
    shown -= 1;
    // the document's own method was put before that of its prototype
    if (shown === 0) Reflect.deleteProperty(document, "createElement");
  };
}

function install(): void {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.nonce ?? "";
  const create = Document.prototype.createElement;
  document.createElement = (name: string, options?: ElementCreationOptions): HTMLElement => {
    const element = create.call(document, name, options);
    if (name === "style") element.nonce = nonce;
    if (name === "span") element.setAttribute = setAttribute;
    return element;
  };
}

function setAttribute(this: HTMLElement, name: string, value: string): void {
  if (name === "style") this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
}
