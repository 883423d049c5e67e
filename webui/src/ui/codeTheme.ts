// How code looks: the page's own colours, so that both themes follow by themselves.
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const frame = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--bg)", fontSize: "var(--size)", maxHeight: "70vh" },
  // the frame around the editor shows the focus: inside, the grounds of lines would cover it
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "var(--line)", minHeight: "120px" },
  ".cm-content": { caretColor: "var(--text)", paddingBlock: "var(--s2)" },
  ".cm-content:focus-visible": { outline: "none" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--muted)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  ".cm-signs": { width: "16px" },
  ".cm-sign": { fontSize: "10px", paddingInline: "3px" },
  ".cm-words": {
    paddingInline: "12px",
    fontFamily: "var(--font)",
    fontSize: "var(--size-s)",
    whiteSpace: "pre-wrap",
    position: "sticky",
    left: "0",
  },
  ".cm-words-error": { color: "var(--error)" },
  ".cm-words-warning": { color: "var(--paused)" },
  "div.cm-words-error, .cm-line-error": { backgroundColor: "var(--error-bg)" },
  "div.cm-words-warning, .cm-line-warning": { backgroundColor: "var(--paused-bg)" },
});

const colours = HighlightStyle.define([
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: [tags.keyword, tags.operatorKeyword, tags.moduleKeyword, tags.controlKeyword], color: "var(--queued)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--done)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--running)" },
  {
    tag: [tags.definition(tags.variableName), tags.function(tags.variableName), tags.className],
    color: "var(--paused)",
  },
  { tag: tags.invalid, color: "var(--error)" },
]);

export function codeTheme(): Extension {
  return [frame, syntaxHighlighting(colours)];
}
