// The header row: names, order of sorting, menus, handles to widen and, by dragging a name, to move a column.
// biome-ignore-all lint/a11y/useSemanticElements: rows of a real table cannot be placed freely
import { ArrowDown, ArrowUp, EllipsisVertical } from "lucide-react";
import { cx } from "../ui/cx";
import css from "./Grid.module.css";
import type { ColumnLayout, Placed } from "./layout";
import type { GridColumn, GridProps, Sort } from "./types";
import type { ColumnDrag } from "./useColumnDrag";

interface GridHeaderProps<Row> {
  grid: GridProps<Row>;
  layout: ColumnLayout<GridColumn<Row>>;
  cells: readonly Placed<GridColumn<Row>>[];
  lead: number;
  focusColumn: number | null;
  drag: ColumnDrag;
}

export function GridHeader<Row>({ grid, layout, cells, lead, focusColumn, drag }: GridHeaderProps<Row>) {
  let end = lead;
  return (
    <div role="rowgroup" className={css["head"]} style={{ width: layout.width }}>
      {/* biome-ignore lint/a11y/useFocusableInteractive: its cells are */}
      <div role="row" aria-rowindex={1} className={css["headRow"]} data-row={-1}>
        {lead > 0 && <AllTick grid={grid} width={lead} />}
        {cells.map((cell) => {
          const gap = cell.left - end;
          end = cell.left + cell.width;
          return (
            <HeaderCell
              key={cell.column.key}
              cell={cell}
              gap={gap}
              colIndex={cell.index + (lead > 0 ? 2 : 1)}
              sort={grid.sort}
              isFocused={focusColumn === cell.index}
              hasMenu={grid.onHeaderMenu !== undefined}
              drag={drag}
            />
          );
        })}
        {drag.mark !== null && <div className={css["dropMark"]} style={{ left: drag.mark }} aria-hidden="true" />}
      </div>
    </div>
  );
}

function AllTick<Row>({ grid, width }: { grid: GridProps<Row>; width: number }) {
  const { selection, onSelectAll } = grid;
  const isAll = selection?.mode === "allBut" && selection.ids.size === 0;
  const isSome = selection !== undefined && !isAll && (selection.mode === "allBut" || selection.ids.size > 0);
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the tick box in it is focusable
    <div
      role="columnheader"
      aria-colindex={1}
      className={cx(css["headCell"], css["pinned"], css["tick"])}
      style={{ width, left: 0 }}
    >
      <input
        type="checkbox"
        aria-label="Select all that match"
        checked={isAll}
        ref={(input) => {
          if (input) input.indeterminate = isSome;
        }}
        onChange={(event) => onSelectAll?.(event.target.checked)}
      />
    </div>
  );
}

interface HeaderCellProps<Row> {
  cell: Placed<GridColumn<Row>>;
  gap: number;
  colIndex: number;
  sort: readonly Sort[];
  isFocused: boolean;
  hasMenu: boolean;
  drag: ColumnDrag;
}

function HeaderCell<Row>({ cell, gap, colIndex, sort, isFocused, hasMenu, drag }: HeaderCellProps<Row>) {
  const { column, index, left, width, pinned } = cell;
  const place = sort.findIndex((one) => one.key === column.key);
  const order = sort[place];
  return (
    <div
      role="columnheader"
      aria-colindex={colIndex}
      aria-sort={
        order === undefined ? (column.sortable ? "none" : undefined) : order.descending ? "descending" : "ascending"
      }
      data-column={index}
      data-key={column.key}
      tabIndex={isFocused ? 0 : -1}
      title={`${column.label}${column.detail ? ` (${column.detail})` : ""}`}
      className={cx(
        css["headCell"],
        pinned && css["pinned"],
        column.align === "right" && css["right"],
        column.sortable && css["sortable"],
      )}
      style={{ width, ...(gap > 0 ? { marginLeft: gap } : {}), ...(pinned ? { left } : {}) }}
      onPointerDown={(event) => drag.onGrab(event, column.key)}
    >
      <span className={css["headText"]}>
        <span className={css["headLabel"]}>{column.label}</span>
        {column.detail && <span className={css["headDetail"]}>{column.detail}</span>}
      </span>
      {order !== undefined && <SortMark isDescending={order.descending} place={sort.length > 1 ? place + 1 : null} />}
      {hasMenu && (
        <button
          type="button"
          tabIndex={-1}
          className={css["headMenu"]}
          data-menu={column.key}
          aria-label={`Options of ${column.label}`}
        >
          <EllipsisVertical size={14} aria-hidden="true" />
        </button>
      )}
      <span
        className={css["resizer"]}
        aria-hidden="true"
        data-resizer=""
        onPointerDown={(event) => drag.onResizeStart(event, column.key, width)}
      />
    </div>
  );
}

function SortMark({ isDescending, place }: { isDescending: boolean; place: number | null }) {
  const Arrow = isDescending ? ArrowDown : ArrowUp;
  return (
    <span className={css["sortMark"]}>
      <Arrow size={13} aria-hidden="true" />
      {place}
    </span>
  );
}
