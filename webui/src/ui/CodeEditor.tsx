// Text with line numbers and colours, to read or to edit. CodeMirror comes as a chunk of its own; until then, plain text.
import { lazy, Suspense } from "react";
import css from "./CodeEditor.module.css";
import type { LineMarker } from "./codeMarkers";

export type { LineMarker } from "./codeMarkers";

export type CodeLanguage = "yaml" | "python" | "text";

export interface CodeEditorProps {
  value: string;
  language: CodeLanguage;
  /** Names the editor for screen readers. */
  label: string;
  readOnly?: boolean | undefined;
  onChange?: ((text: string) => void) | undefined;
  /** Words below a line, such as what is wrong with it. */
  markers?: readonly LineMarker[] | undefined;
}

const CodeMirror = lazy(() => import("./CodeMirror"));

export function CodeEditor(props: CodeEditorProps) {
  return (
    <div className={css["editor"]}>
      <Suspense fallback={<pre className={css["plain"]}>{props.value}</pre>}>
        <CodeMirror {...props} />
      </Suspense>
    </div>
  );
}
