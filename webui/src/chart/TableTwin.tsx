// The table beside every picture: the same numbers as text, a hundred rows at a time.
import { useState } from "react";
import { Button } from "../ui/Button";
import { DataTable } from "../ui/DataTable";
import { count } from "../ui/format";
import styles from "./TableTwin.module.css";

interface TableTwinProps {
  caption: string;
  columns: readonly string[];
  rows: readonly (readonly string[])[];
  height?: number;
}

interface Row {
  key: number;
  cells: readonly string[];
}

const PAGE = 100;

export function TableTwin({ caption, columns, rows, height = 320 }: TableTwinProps) {
  const [wanted, setPage] = useState(0);
  const last = Math.max(0, Math.ceil(rows.length / PAGE) - 1);
  const page = Math.min(wanted, last);
  const shown: Row[] = rows.slice(page * PAGE, (page + 1) * PAGE).map((cells, i) => ({ cells, key: page * PAGE + i }));
  const heads = columns.map((label, i) => ({
    key: `${i} ${label}`,
    label,
    align: i === 0 ? ("left" as const) : ("right" as const),
    render: (row: Row) => row.cells[i],
  }));
  return (
    <div>
      <div className={styles.scroll} style={{ maxHeight: height }}>
        <DataTable columns={heads} rows={shown} rowKey={(row) => row.key} caption={caption} />
      </div>
      {last > 0 && (
        <div className={styles.pager}>
          <Button isDisabled={page === 0} onPress={() => setPage(page - 1)}>
            Previous {PAGE}
          </Button>
          <span>
            rows {count(page * PAGE + 1)} to {count(page * PAGE + shown.length)} of {count(rows.length)}
          </span>
          <Button isDisabled={page === last} onPress={() => setPage(page + 1)}>
            Next {PAGE}
          </Button>
        </div>
      )}
    </div>
  );
}
