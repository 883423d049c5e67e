// The table form of the grid: a sticky header, pinned columns, and only the rows and columns in sight.
// biome-ignore-all lint/a11y/useSemanticElements: rows of a real table cannot be placed freely
import { useCallback, useEffect, useMemo, useRef } from "react";
import { cx } from "../ui/cx";
import css from "./Grid.module.css";
import { GridHeader } from "./GridHeader";
import { GridRow } from "./GridRow";
import {
  assignSlots,
  columnsInSight,
  HEADER_HEIGHT,
  layoutColumns,
  rowsInSight,
  type Slots,
  TICK_WIDTH,
} from "./layout";
import { isChosen } from "./selection";
import type { GridProps } from "./types";
import { useColumnDrag } from "./useColumnDrag";
import { useGridFocus } from "./useGridFocus";
import { useGridPointer } from "./useGridPointer";
import { useRowHeight } from "./useMedia";
import { useSight } from "./useSight";

const SPARE_ROWS = 6;

export function GridTable<Row>(props: GridProps<Row>) {
  const { columns, rowCount, rowAt, rowKey, onRange, selection } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const themed = useRowHeight();
  const rowHeight = props.rowHeight ?? themed;
  const lead = selection ? TICK_WIDTH : 0;
  const drag = useColumnDrag(scroller, props);
  const layout = useMemo(() => layoutColumns(drag.resized(columns), lead), [columns, lead, drag.resized]);
  const sight = useSight(scroller, rowHeight);
  const focus = useGridFocus(scroller, props, layout, rowHeight);
  const pointer = useGridPointer(scroller, props, focus);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new list begins at its top
  useEffect(() => {
    // new browsers answer with a promise, which an effect must not
    scroller.current?.scrollTo({ top: 0 });
  }, [props.resetKey]);
  const { column: focusColumn, row: focusRow } = focus.cell;
  const cells = useMemo(
    () => columnsInSight(layout, sight.left, sight.width, focusColumn),
    [layout, sight.left, sight.width, focusColumn],
  );
  const { first, last } = rowsInSight(sight.top, sight.height - HEADER_HEIGHT, rowHeight, rowCount, SPARE_ROWS);
  const slots = useSlots(first, last, focusRow < rowCount ? focusRow : -1);
  useRange(first + SPARE_ROWS, last - SPARE_ROWS, rowCount, onRange);
  const drawn = [...slots].sort(sight.isMoving ? (a, b) => a[1] - b[1] : (a, b) => a[0] - b[0]);
  return (
    <div
      ref={scroller}
      className={css["scroller"]}
      role="grid"
      aria-label={props.label}
      aria-rowcount={rowCount + 1}
      aria-colcount={columns.length + (selection ? 1 : 0)}
      aria-multiselectable={selection ? true : undefined}
      onKeyDown={focus.onKeyDown}
      {...pointer}
    >
      <GridHeader
        grid={props}
        layout={layout}
        cells={cells}
        lead={lead}
        focusColumn={focusRow === -1 ? focusColumn : null}
        drag={drag}
      />
      <div
        role="rowgroup"
        className={cx(css["body"], drag.isDragging && css["dragging"])}
        style={{ height: rowCount * rowHeight, width: layout.width }}
      >
        {drawn.map(([index, slot]) => {
          const row = rowAt(index);
          const key = row === undefined ? null : rowKey(row);
          return (
            <GridRow
              key={slot}
              index={index}
              row={row}
              cells={cells}
              lead={lead}
              height={rowHeight}
              isSelected={selection !== undefined && key !== null && isChosen(selection, key)}
              isMarked={key !== null && key === props.markedKey}
              focusColumn={index === focusRow ? focusColumn : null}
            />
          );
        })}
      </div>
    </div>
  );
}

/** Rows by element; the focused row has one wherever it is, or the keyboard would lose its place. */
function useSlots(first: number, last: number, focused: number): Slots {
  const slots = useRef<Slots>(new Map());
  const rows = Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
  if (focused >= 0 && (focused < first || focused > last)) rows.push(focused);
  slots.current = assignSlots(slots.current, rows);
  return slots.current;
}

function useRange(first: number, last: number, rowCount: number, onRange: GridProps<never>["onRange"]): void {
  const latest = useRef(onRange);
  latest.current = onRange;
  const from = Math.max(0, Math.min(first, rowCount - 1));
  const to = Math.max(from, Math.min(last, rowCount - 1));
  const tell = useCallback(() => latest.current?.(from, to), [from, to]);
  useEffect(tell, [tell]);
}
