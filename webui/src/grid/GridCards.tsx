// The grid on a narrow screen: one card per row, of one height, only those in sight.
// biome-ignore-all lint/a11y/useSemanticElements: rows of a real table cannot be placed freely
import { type ReactNode, useEffect, useRef } from "react";
import { cx } from "../ui/cx";
import css from "./Grid.module.css";
import { rowsInSight } from "./layout";
import { isChosen } from "./selection";
import type { GridProps } from "./types";
import { useSight } from "./useSight";

const SPARE = 3;

export function GridCards<Row>(props: GridProps<Row> & { card: (row: Row) => ReactNode }) {
  const { rowCount, rowAt, rowKey, selection, onToggle, onRange, card, cardHeight = 96 } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const sight = useSight(scroller, cardHeight);
  const { first, last } = rowsInSight(sight.top, sight.height, cardHeight, rowCount, SPARE);
  useEffect(() => onRange?.(first, Math.max(first, last)), [first, last, onRange]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard must be able to
    <div ref={scroller} className={css["cards"]} tabIndex={0} role="group" aria-label={props.label}>
      <ul style={{ height: rowCount * cardHeight }}>
        {Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i).map((index) => {
          const row = rowAt(index);
          const isSelected = row !== undefined && selection !== undefined && isChosen(selection, rowKey(row));
          return (
            <li
              key={index}
              aria-setsize={rowCount}
              aria-posinset={index + 1}
              className={cx(css["card"], isSelected && css["chosen"])}
              style={{ transform: `translateY(${index * cardHeight}px)`, height: cardHeight }}
            >
              {selection && (
                <input
                  type="checkbox"
                  aria-label={`Select row ${index + 1}`}
                  checked={isSelected}
                  disabled={row === undefined}
                  onChange={() => onToggle?.(index)}
                />
              )}
              <div className={css["cardBody"]}>
                {row === undefined ? <span className={css["waiting"]} /> : card(row)}
              </div>
            </li>
          );
        })}
      </ul>
    </div>
  );
}
