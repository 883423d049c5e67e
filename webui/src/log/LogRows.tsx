// The rows of a log: only those in view are in the document, and the view holds its place while lines come and go.

import { memo, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { parseAnsi, plainText, type TextStyle } from "./ansi";
import type { LogFeed, LogWindow } from "./feed";
import { mark } from "./find";
import css from "./LogView.module.css";
import { offsetsOf, rowHeight, visible } from "./layout";
import { type LogLine, shownNumber } from "./line";

export interface LogRowsProps {
  feed: LogFeed;
  view: LogWindow;
  isWrapped: boolean;
  hasTimes: boolean;
  marker: RegExp | null;
  current: number | null;
  follows: boolean;
  onFollow: (follows: boolean) => void;
}

/** How near an edge more lines are asked for. */
const EDGE_PX = 1200;
const END_PX = 4;
/** Characters of the columns before the text, as the style sheet has them: number and level; rank; time. */
const GUTTER = { always: 17, rank: 5, time: 13 };
/** On a phone: no fractions of seconds, and of the level its letter. */
const NARROW_GUTTER = { always: 8, rank: 5, time: 9 };
const NARROW_COLUMNS = 64;

export function LogRows(props: LogRowsProps) {
  const { feed, view, isWrapped, hasTimes, marker, current, follows, onFollow } = props;
  const box = useRef<HTMLElement>(null);
  const [top, setTop] = useState(0);
  const { height, columns } = useMeasure(box);
  const hasRanks = useMemo(() => view.lines.some((line) => line.rank !== null), [view.lines]);
  const isNarrow = columns < NARROW_COLUMNS;
  const parts = isNarrow ? NARROW_GUTTER : GUTTER;
  const gutter = parts.always + (hasRanks ? parts.rank : 0) + (hasTimes ? parts.time : 0);
  const fits = isWrapped ? columns - gutter : null;
  const offsets = useOffsets(view.lines, fits);
  const total = offsets.at(-1) ?? 0;
  useHeldPlace(box, view, offsets, { current, follows });
  const scrolled = useCallback((): void => {
    const element = box.current;
    if (element === null) return;
    setTop(element.scrollTop);
    const left = element.scrollHeight - element.scrollTop - element.clientHeight;
    onFollow(left <= END_PX && view.atEnd);
    if (element.scrollTop < EDGE_PX) void feed.earlier();
    if (left < EDGE_PX) void feed.later();
  }, [feed, onFollow, view.atEnd]);
  const [first, last] = visible(offsets, top, height);
  return (
    <section
      ref={box}
      className={css["rows"]}
      data-narrow={isNarrow || undefined}
      aria-label="Log lines"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
      tabIndex={0}
      onScroll={scrolled}
    >
      <div className={css["all"]} style={{ height: total }}>
        {view.lines.slice(first, last).map((line, i) => (
          <Row
            key={line.id}
            line={line}
            top={offsets[first + i] ?? 0}
            height={(offsets[first + i + 1] ?? 0) - (offsets[first + i] ?? 0)}
            isWrapped={isWrapped}
            hasTimes={hasTimes}
            hasRanks={hasRanks}
            marker={marker}
            isCurrent={line.id === current}
          />
        ))}
      </div>
    </section>
  );
}

interface RowProps {
  line: LogLine;
  top: number;
  height: number;
  isWrapped: boolean;
  hasTimes: boolean;
  hasRanks: boolean;
  marker: RegExp | null;
  isCurrent: boolean;
}

const Row = memo(function Row(props: RowProps) {
  const { line, top, height, isWrapped, hasTimes, hasRanks, marker, isCurrent } = props;
  return (
    <div
      className={css["row"]}
      data-level={line.level ?? "NONE"}
      data-current={isCurrent || undefined}
      data-wrapped={isWrapped || undefined}
      style={{ transform: `translateY(${top}px)`, height }}
    >
      <a className={css["number"]} href={`#L${line.id}`} aria-label={`Link to line ${shownNumber(line.id)}`}>
        {shownNumber(line.id)}
      </a>
      {hasTimes && (
        <time className={css["time"]} dateTime={line.time} title={line.time}>
          {clock(line.time)}
        </time>
      )}
      <span className={css["level"]}>{line.level ?? ""}</span>
      {hasRanks && <span className={css["rank"]}>{line.rank === null ? "" : `r${line.rank}`}</span>}
      <span className={css["text"]}>
        {mark(parseAnsi(line.text), marker).map((part, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of a line that never changes
          <Piece key={i} text={part.text} style={part.style} hit={part.hit} />
        ))}
      </span>
    </div>
  );
});

function Piece({ text, style, hit }: { text: string; style: TextStyle | null; hit: boolean }) {
  const classes = style === null ? "" : classesOf(style);
  if (hit) return <mark className={classes}>{text}</mark>;
  return style === null ? text : <span className={classes}>{text}</span>;
}

function classesOf(style: TextStyle): string {
  const [fg, bg] = style.inverse ? [style.bg ?? 0, style.fg ?? 7] : [style.fg, style.bg];
  const names = [
    style.bold && "bold",
    style.dim && "dim",
    style.italic && "italic",
    style.underline && "underline",
    style.strike && "strike",
    fg !== null && `fg${fg}`,
    bg !== null && `bg${bg}`,
  ];
  return names.flatMap((name) => (name ? (css[name] ?? []) : [])).join(" ");
}

/** The time of day as its line has it, in the reader's own zone. */
function clock(time: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "";
  const two = (n: number): string => String(n).padStart(2, "0");
  const milli = String(date.getMilliseconds()).padStart(3, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${milli}`;
}

function useOffsets(lines: readonly LogLine[], fits: number | null): Float64Array {
  const heights = useRef(new WeakMap<LogLine, number>());
  const known = useRef(fits);
  return useMemo(() => {
    if (known.current !== fits) heights.current = new WeakMap();
    known.current = fits;
    const cache = heights.current;
    return offsetsOf(
      lines.map((line) => {
        const height = cache.get(line) ?? rowHeight(plainText(line.text), fits);
        cache.set(line, height);
        return height;
      }),
    );
  }, [lines, fits]);
}

/** Height of the box and how many characters fit beside one another in it. */
function useMeasure(box: React.RefObject<HTMLElement | null>): { height: number; columns: number } {
  const [size, setSize] = useState({ height: 600, columns: 120 });
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = (): void => {
      const context = document.createElement("canvas").getContext("2d");
      const style = getComputedStyle(element);
      if (context === null) return;
      context.font = `${style.fontSize} ${style.fontFamily}`;
      const character = context.measureText("0".repeat(100)).width / 100 || 8;
      setSize({ height: element.clientHeight, columns: Math.floor(element.clientWidth / character) });
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  return size;
}

/** Follow the end, or keep what is read where it is when lines are put in front, or show the line that was asked for. */
function useHeldPlace(
  box: React.RefObject<HTMLElement | null>,
  view: LogWindow,
  offsets: Float64Array,
  want: { current: number | null; follows: boolean },
): void {
  const before = useRef<{ lines: readonly LogLine[]; offsets: Float64Array }>({
    lines: [],
    offsets: new Float64Array(1),
  });
  useLayoutEffect(() => {
    const element = box.current;
    const last = before.current;
    before.current = { lines: view.lines, offsets };
    if (element === null) return;
    if (want.follows) element.scrollTop = element.scrollHeight;
    else if (view.prepended > 0 && last.lines !== view.lines) element.scrollTop += offsets[view.prepended] ?? 0;
    else if (view.prepended < 0 && last.lines !== view.lines) {
      element.scrollTop -= last.offsets[-view.prepended] ?? 0;
    }
  }, [box, view, offsets, want.follows]);
  const reveal = `${view.opened} ${want.current}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another target or another window moves the view
  useEffect(() => {
    const element = box.current;
    const index = view.lines.findIndex((line) => line.id === want.current);
    if (element === null || index < 0) return;
    const top = offsets[index] ?? 0;
    const isInView =
      top >= element.scrollTop && (offsets[index + 1] ?? top) <= element.scrollTop + element.clientHeight;
    if (!isInView) element.scrollTop = Math.max(0, top - element.clientHeight / 3);
  }, [reveal]);
}
