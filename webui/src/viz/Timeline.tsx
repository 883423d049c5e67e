// When each trial ran: a row per trial, a bar per stretch in one state; running ones reach to now.
import { useMemo, useState } from "react";
import { scaleOf, toUnit } from "../chart/scale";
import { ticksOf } from "../chart/ticks";
import { Button } from "../ui/Button";
import { dateTime, duration, plural } from "../ui/format";
import { StatePill } from "../ui/StatePill";
import { stateOf } from "../ui/state";
import type { Id } from "./types";
import { VizFrame } from "./VizFrame";
import styles from "./viz.module.css";

export interface TimelineSegment {
  start: number;
  end?: number | undefined;
  state: string;
}

export interface TimelineRow {
  id: Id;
  label: string;
  state: string;
  segments: readonly TimelineSegment[];
}

export interface TimelineProps {
  rows: readonly TimelineRow[];
  /** Epoch milliseconds, as are the segments' ends. */
  now: number;
  title?: string | undefined;
  onPick?: ((id: Id) => void) | undefined;
}

const PAGE = 100;

export function Timeline({ rows, now, title = "Timeline", onPick }: TimelineProps) {
  const [most, setMost] = useState(PAGE);
  const span = useMemo(() => spanOf(rows, now), [rows, now]);
  const shown = rows.slice(0, most);
  const table = () => rows.flatMap((row) => row.segments.map((segment) => segmentRow(row, segment, now)));
  return (
    <VizFrame title={title} columns={["trial", "state", "from", "to", "took"]} rows={table}>
      <div className={styles.timeAxis} aria-hidden="true">
        {ticksOf(span, 6, "time").map(({ value, label }) => (
          <span key={value} style={{ left: `${toUnit(span, value) * 100}%` }}>
            {label}
          </span>
        ))}
      </div>
      <ul className={styles.timeline}>
        {shown.map((row) => (
          <li key={row.id}>
            <TimelineName row={row} onPick={onPick} />
            <StatePill state={row.state} />
            <span className={styles.track}>
              {row.segments.map((segment) => (
                <Segment key={segment.start} segment={segment} span={span} now={now} />
              ))}
            </span>
          </li>
        ))}
      </ul>
      {rows.length > most && (
        <Button onPress={() => setMost(most + PAGE)}>
          Show {plural(Math.min(PAGE, rows.length - most), "more trial")}
        </Button>
      )}
    </VizFrame>
  );
}

function TimelineName({ row, onPick }: { row: TimelineRow; onPick: ((id: Id) => void) | undefined }) {
  if (onPick === undefined) return <span className={styles.rowName}>{row.label}</span>;
  return (
    <button type="button" className={styles.rowName} title={row.label} onClick={() => onPick(row.id)}>
      {row.label}
    </button>
  );
}

function Segment({ segment, span, now }: { segment: TimelineSegment; span: ReturnType<typeof spanOf>; now: number }) {
  const from = toUnit(span, segment.start / 1000);
  const to = toUnit(span, (segment.end ?? now) / 1000);
  const { kind, word } = stateOf(segment.state);
  const took = duration(((segment.end ?? now) - segment.start) / 1000);
  return (
    <span
      className={styles[kind]}
      title={`${word}: ${dateTime(segment.start)}, ${took}`}
      style={{ left: `${from * 100}%`, width: `${Math.max(0, to - from) * 100}%` }}
    />
  );
}

function spanOf(rows: readonly TimelineRow[], now: number) {
  const segments = rows.flatMap((row) => row.segments);
  const lo = segments.reduce((least, { start }) => Math.min(least, start), now);
  const hi = segments.reduce((most, { start, end }) => Math.max(most, end ?? Math.max(now, start)), lo);
  return scaleOf("linear", lo / 1000, hi / 1000);
}

function segmentRow(row: TimelineRow, { start, end, state }: TimelineSegment, now: number): string[] {
  const to = end === undefined ? "now" : dateTime(end);
  return [row.label, stateOf(state).word, dateTime(start), to, duration(((end ?? now) - start) / 1000)];
}
