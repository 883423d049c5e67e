// Two texts as one list of lines: what was taken out, what was put in, the rest folded.
import { useMemo, useState } from "react";
import { cx } from "./cx";
import css from "./Diff.module.css";
import { changesIn, type DiffFold, type DiffLine, diffLines, folded } from "./diffLines";
import { plural } from "./format";

export interface DiffProps {
  before: string;
  after: string;
  beforeName: string;
  afterName: string;
  /** Equal lines shown around a change. */
  context?: number | undefined;
}

export function Diff({ before, after, beforeName, afterName, context = 3 }: DiffProps) {
  const lines = useMemo(() => diffLines(before, after), [before, after]);
  const shown = useMemo(() => folded(lines, context), [lines, context]);
  const { added, removed } = changesIn(lines);
  if (added + removed === 0) return <p className={css["none"]}>{`${beforeName} and ${afterName} are the same.`}</p>;
  const words = `${beforeName} → ${afterName}: ${plural(added, "line")} added, ${plural(removed, "line")} removed`;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll, and the keyboard must reach their end
    <section className={css["diff"]} tabIndex={0} aria-label={words}>
      <table>
        <caption>{words}</caption>
        <tbody>
          {shown.map((one) =>
            one.kind === "fold" ? <Fold key={keyOf(one)} fold={one} /> : <Line key={keyOf(one)} line={one} />,
          )}
        </tbody>
      </table>
    </section>
  );
}

const SIGNS = { same: " ", added: "+", removed: "−" };
const WORDS = { same: "", added: "added: ", removed: "removed: " };

function Line({ line }: { line: DiffLine }) {
  return (
    <tr className={cx(css[line.kind])}>
      <td className={css["number"]}>{line.before ?? ""}</td>
      <td className={css["number"]}>{line.after ?? ""}</td>
      <td className={css["text"]}>
        <span aria-hidden="true">{SIGNS[line.kind]} </span>
        <span className="visually-hidden">{WORDS[line.kind]}</span>
        {line.text}
      </td>
    </tr>
  );
}

function Fold({ fold }: { fold: DiffFold }) {
  const [isOpen, setOpen] = useState(false);
  if (isOpen) return fold.lines.map((line) => <Line key={keyOf(line)} line={line} />);
  return (
    <tr className={css["fold"]}>
      <td colSpan={3}>
        <button type="button" onClick={() => setOpen(true)}>
          … {plural(fold.lines.length, "equal line")}
        </button>
      </td>
    </tr>
  );
}

function keyOf(one: DiffLine | DiffFold): string {
  if (one.kind === "fold") return `fold ${one.lines[0]?.before ?? ""}`;
  return `${one.kind} ${one.before ?? ""} ${one.after ?? ""}`;
}
