// Words below lines of the code editor: a problem stands where it is, in letters, not only as a colour.
import { type EditorState, type Extension, RangeSet, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, GutterMarker, gutter, WidgetType } from "@codemirror/view";

export interface LineMarker {
  /** Counts from 1. */
  line: number;
  message: string;
  kind: "error" | "warning";
}

export const setMarkers = StateEffect.define<readonly LineMarker[]>();

interface Marked {
  lines: DecorationSet;
  signs: RangeSet<GutterMarker>;
}

const marked = StateField.define<Marked>({
  create: () => ({ lines: Decoration.none, signs: RangeSet.empty }),
  update(now, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(setMarkers)) return markedOf(transaction.state, effect.value);
    }
    if (!transaction.docChanged) return now;
    return { lines: now.lines.map(transaction.changes), signs: now.signs.map(transaction.changes) };
  },
  provide: (field) => EditorView.decorations.from(field, (value) => value.lines),
});

export function lineMarkers(): Extension {
  return [marked, gutter({ class: "cm-signs", markers: (view) => view.state.field(marked).signs })];
}

class Words extends WidgetType {
  readonly marker: LineMarker;

  constructor(marker: LineMarker) {
    super();
    this.marker = marker;
  }

  override eq(other: Words): boolean {
    return other.marker.message === this.marker.message && other.marker.kind === this.marker.kind;
  }

  override toDOM(): HTMLElement {
    const words = document.createElement("div");
    words.className = `cm-words cm-words-${this.marker.kind}`;
    words.textContent = `${this.marker.kind === "error" ? "✕" : "!"} ${this.marker.message}`;
    return words;
  }
}

class Sign extends GutterMarker {
  readonly kind: LineMarker["kind"];

  constructor(kind: LineMarker["kind"]) {
    super();
    this.kind = kind;
  }

  override eq(other: Sign): boolean {
    return other.kind === this.kind;
  }

  override toDOM(): Node {
    const sign = document.createElement("span");
    sign.className = `cm-sign cm-words-${this.kind}`;
    sign.textContent = this.kind === "error" ? "✕" : "!";
    return sign;
  }
}

function markedOf(state: EditorState, markers: readonly LineMarker[]): Marked {
  const inside = markers.filter(({ line }) => line >= 1 && line <= state.doc.lines);
  const lines = inside.flatMap((marker) => {
    const { from, to } = state.doc.line(marker.line);
    return [
      Decoration.line({ class: `cm-line-${marker.kind}` }).range(from),
      Decoration.widget({ widget: new Words(marker), block: true, side: 1 }).range(to),
    ];
  });
  const signs = inside.map((marker) => new Sign(marker.kind).range(state.doc.line(marker.line).from));
  return { lines: Decoration.set(lines, true), signs: RangeSet.of(signs, true) };
}
