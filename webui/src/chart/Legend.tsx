// The legend, which is also the value table under a chart: a click isolates a series, a double click brings all back.
import { type RefObject, useEffect, useRef } from "react";
import styles from "./Chart.module.css";
import { useInk } from "./ink";
import type { Line } from "./lines";
import { middleEllipsis } from "./names";
import { valueAt } from "./summary";
import type { SyncGroup } from "./syncGroup";
import { wordOf } from "./ticks";
import type { XKind } from "./types";

interface LegendProps {
  lines: readonly Line[];
  solo: string | null;
  group: SyncGroup;
  xLabel: string;
  xKind: XKind;
}

const NAME_LETTERS = 26;

export function Legend({ lines, solo, group, xLabel, xKind }: LegendProps) {
  const list = useRef<HTMLDivElement>(null);
  useValues(list, lines, group, xLabel, xKind);
  if (lines.length === 0) return <div className={styles.legend} />;
  const isolated = lines.some((line) => line.soloKey === solo) ? solo : null;
  return (
    <div className={styles.legend} ref={list}>
      <p className={styles.at} data-at>
        last
      </p>
      <ul className={styles.entries}>
        {lines.map((line) => (
          <li key={line.id}>
            <Entry line={line} pressed={isolated === line.soloKey} faint={isolated !== null} group={group} />
          </li>
        ))}
      </ul>
    </div>
  );
}

interface EntryProps {
  line: Line;
  pressed: boolean;
  faint: boolean;
  group: SyncGroup;
}

function Entry({ line, pressed, faint, group }: EntryProps) {
  const ink = useInk();
  const className = faint && !pressed && !line.baseline ? styles.entryOff : styles.entry;
  return (
    <button
      type="button"
      className={className}
      aria-pressed={pressed}
      title={`${line.name}: show only this series; again, or double click, for all`}
      onClick={() => group.toggleSolo(line.soloKey)}
      onDoubleClick={() => group.showAll()}
    >
      <svg width="18" height="8" aria-hidden="true">
        <line
          x1="0"
          y1="4"
          x2="18"
          y2="4"
          stroke={line.baseline ? "currentColor" : ink.resolve(line.look.colour)}
          strokeWidth={line.baseline ? 2.5 : 2}
          strokeDasharray={line.baseline ? undefined : line.look.dash.join(" ") || undefined}
        />
      </svg>
      <span>{middleEllipsis(line.name, NAME_LETTERS)}</span>
      {line.baseline && <span className={styles.badge}>baseline</span>}
      <span className={styles.value} data-value />
    </button>
  );
}

/** Values follow the cursor many times a second, so they are written straight into their elements. */
function useValues(
  list: RefObject<HTMLElement | null>,
  lines: readonly Line[],
  group: SyncGroup,
  xLabel: string,
  xKind: XKind,
): void {
  useEffect(() => {
    const write = () => {
      const { cursor } = group.get();
      const cells = list.current?.querySelectorAll("[data-value]") ?? [];
      for (const [i, cell] of [...cells].entries()) {
        const line = lines[i];
        if (line !== undefined) cell.textContent = valueAt(line, cursor);
      }
      const at = list.current?.querySelector("[data-at]");
      if (at) at.textContent = cursor === null ? "last" : `${xLabel} ${wordOf(roundedX(cursor), xKind)}`;
    };
    write();
    return group.subscribe(write);
  }, [list, lines, group, xLabel, xKind]);
}

function roundedX(x: number): number {
  return Math.abs(x) >= 100 ? Math.round(x) : Number(x.toPrecision(4));
}
