// One row of the grid. It renders again only when its own row, place, columns or marks change.
// biome-ignore-all lint/a11y/useSemanticElements: rows of a real table cannot be placed freely
import { memo, type ReactNode } from "react";
import { cx } from "../ui/cx";
import css from "./Grid.module.css";
import type { Placed } from "./layout";
import type { GridColumn } from "./types";

interface GridRowProps<Row> {
  index: number;
  row: Row | undefined;
  cells: readonly Placed<GridColumn<Row>>[];
  lead: number;
  height: number;
  isSelected: boolean;
  isMarked: boolean;
  /** The column with the focus, where this row has it. */
  focusColumn: number | null;
}

export const GridRow = memo(Row) as typeof Row;

function Row<R>({ index, row, cells, lead, height, isSelected, isMarked, focusColumn }: GridRowProps<R>) {
  let end = lead;
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: its cells are
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={lead > 0 ? isSelected : undefined}
      data-row={index}
      className={cx(css["row"], isSelected && css["chosen"], isMarked && css["marked"])}
      style={{ transform: `translateY(${index * height}px)`, height }}
    >
      {lead > 0 && <Tick index={index} width={lead} isSelected={isSelected} isReady={row !== undefined} />}
      {cells.map(({ column, index: at, left, width, pinned }) => {
        const gap = left - end;
        end = left + width;
        return (
          <div
            key={column.key}
            role="gridcell"
            aria-colindex={at + (lead > 0 ? 2 : 1)}
            data-column={at}
            tabIndex={focusColumn === at ? 0 : -1}
            className={cx(css["cell"], column.align === "right" && css["right"], pinned && css["pinned"])}
            style={styleOf(column, row, width, gap, pinned ? left : null)}
          >
            {row === undefined ? <Waiting /> : column.render(row)}
          </div>
        );
      })}
    </div>
  );
}

function Tick({
  index,
  width,
  isSelected,
  isReady,
}: {
  index: number;
  width: number;
  isSelected: boolean;
  isReady: boolean;
}) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: Space on any cell ticks the row
    <div
      role="gridcell"
      aria-colindex={1}
      className={cx(css["cell"], css["pinned"], css["tick"])}
      style={{ width, left: 0 }}
    >
      <input
        type="checkbox"
        tabIndex={-1}
        aria-label={`Select row ${index + 1}`}
        checked={isSelected}
        disabled={!isReady}
        readOnly
      />
    </div>
  );
}

function Waiting(): ReactNode {
  return <span className={css["waiting"]} aria-hidden="true" />;
}

function styleOf<R>(column: GridColumn<R>, row: R | undefined, width: number, gap: number, stick: number | null) {
  const shade = row === undefined ? undefined : column.shade?.(row);
  return {
    width,
    ...(gap > 0 ? { marginLeft: gap } : {}),
    ...(stick === null ? {} : { left: stick }),
    ...(shade === undefined ? {} : { background: shade }),
  };
}
