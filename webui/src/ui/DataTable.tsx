// A small table: real rows and headers, a caption, numbers to the right. The grid is for thousands of rows.
import type { ReactNode } from "react";
import { cx } from "./cx";
import css from "./layout.module.css";

export interface Column<Row> {
  key: string;
  label: ReactNode;
  align?: "left" | "right" | "center" | undefined;
  render?: ((row: Row) => ReactNode) | undefined;
  /** Left out on a phone, so that what can be done about a row stays within reach. */
  isMinor?: boolean | undefined;
}

export interface DataTableProps<Row> {
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string | number;
  caption: string;
  hidesCaption?: boolean | undefined;
}

export function DataTable<Row>({ columns, rows, rowKey, caption, hidesCaption }: DataTableProps<Row>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table wider than the screen scrolls by keyboard too
    <section className={css["scroll"]} tabIndex={0} aria-label={caption}>
      <table className={css["table"]}>
        <caption className={hidesCaption ? "visually-hidden" : undefined}>{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.key} scope="col" className={alignOf(column)}>
                {column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              {columns.map((column) => (
                <td key={column.key} className={alignOf(column)}>
                  {cellOf(column, row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function alignOf<Row>(column: Column<Row>): string {
  const { align, isMinor } = column;
  return cx(align === "right" && css["right"], align === "center" && css["center"], isMinor && css["minor"]);
}

function cellOf<Row>(column: Column<Row>, row: Row): ReactNode {
  if (column.render) return column.render(row);
  const value = (row as Record<string, unknown>)[column.key];
  return value === undefined || value === null ? "" : String(value);
}
