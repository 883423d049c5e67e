// A row of the table on a narrow screen: name, state, metric, trend.
import { metricNumber } from "../../ui/format";
import { StatePill } from "../../ui/StatePill";
import { Link } from "../../url";
import { type CellContext, renderCell } from "./cells";
import css from "./project.module.css";
import { numberAt, type TableRow } from "./rowValues";

export function RowCard({ row, context }: { row: TableRow; context: CellContext }) {
  const value = numberAt(row, "searcherMetricsVal");
  return (
    <>
      <Link href={row.href} className={css["cardName"]}>
        {row.id} · {row.name}
      </Link>
      <div className={css["cardLine"]}>
        <StatePill state={row.state} />
        {value !== null && (
          <span>
            {row.searcherMetric} {metricNumber(value)}
          </span>
        )}
      </div>
      <div className={css["cardLine"]}>
        {renderCell(row, "trend", undefined, context) || (
          <span className={css["note"]}>
            started {renderCell(row, "startTime", undefined, context)}, took{" "}
            {renderCell(row, "duration", undefined, context)}
          </span>
        )}
      </div>
    </>
  );
}
