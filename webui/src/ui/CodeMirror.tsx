// The lazy half of CodeEditor: the only file that starts CodeMirror.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, indentOnInput, indentUnit } from "@codemirror/language";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import { EditorView, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "react";
import type { CodeEditorProps, CodeLanguage } from "./CodeEditor";
import css from "./CodeEditor.module.css";
import { lineMarkers, setMarkers } from "./codeMarkers";
import { codeTheme } from "./codeTheme";
import { replacement } from "./textChange";

export default function CodeMirror({ value, language, label, readOnly = false, onChange, markers }: CodeEditorProps) {
  const mount = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const variable = useRef(new Compartment());
  const told = useRef(onChange);
  const first = useRef(value);
  useEffect(() => {
    told.current = onChange;
  });
  useEffect(() => {
    if (!mount.current) return undefined;
    const listener = EditorView.updateListener.of((update) => {
      const isOwn = update.transactions.some((one) => one.isUserEvent("outside"));
      if (update.docChanged && !isOwn) told.current?.(update.state.doc.toString());
    });
    const extensions = [fixed(), variable.current.of([]), listener];
    const made = new EditorView({
      parent: mount.current,
      state: EditorState.create({ doc: first.current, extensions }),
    });
    view.current = made;
    return () => made.destroy();
  }, []);
  useEffect(() => {
    view.current?.dispatch({ effects: variable.current.reconfigure(configured(language, label, readOnly)) });
  }, [language, label, readOnly]);
  useEffect(() => {
    const change = view.current && replacement(view.current.state.doc.toString(), value);
    // only what differs is replaced: the cursor, the scroll position and Undo stay
    if (change) view.current?.dispatch({ changes: change, userEvent: "outside" });
  }, [value]);
  useEffect(() => {
    view.current?.dispatch({ effects: setMarkers.of(markers ?? []) });
  }, [markers]);
  return <div className={css["mount"]} ref={mount} />;
}

function fixed(): Extension {
  return [
    EditorView.cspNonce.of(document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.nonce ?? ""),
    lineNumbers(),
    lineMarkers(),
    highlightSpecialChars(),
    history(),
    bracketMatching(),
    indentOnInput(),
    // Tab leaves the editor, as everywhere on the page: no trap for the keyboard
    keymap.of([...defaultKeymap, ...historyKeymap]),
    codeTheme(),
  ];
}

function configured(language: CodeLanguage, label: string, readOnly: boolean): Extension {
  const attributes: Record<string, string> = readOnly
    ? { "aria-label": label, "aria-readonly": "true", tabindex: "0" }
    : { "aria-label": label, tabindex: "0" };
  return [
    language === "python" ? [python(), indentUnit.of("    ")] : language === "yaml" ? yaml() : [],
    EditorState.readOnly.of(readOnly),
    EditorView.editable.of(!readOnly),
    EditorView.contentAttributes.of(attributes),
    readOnly ? [] : highlightActiveLine(),
  ];
}
