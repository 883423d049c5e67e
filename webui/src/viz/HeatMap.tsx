// Two hyperparameters against a metric: a real table whose cells are coloured, so it is its own twin.
import { useMemo } from "react";
import { metricNumber, plural } from "../ui/format";
import { type Cell, type HeatPoint, heatOf } from "./binning";
import { ColourBar } from "./ColourBar";
import type { Id, VizAxis } from "./types";
import { VizFrame } from "./VizFrame";
import { textOn, viridis } from "./viridis";
import styles from "./viz.module.css";

export interface HeatMapProps {
  points: readonly HeatPoint[];
  xAxis: VizAxis;
  yAxis: VizAxis;
  valueLabel: string;
  title?: string | undefined;
  onPick?: ((ids: Id[]) => void) | undefined;
}

export function HeatMap({ points, xAxis, yAxis, valueLabel, title, onPick }: HeatMapProps) {
  const heat = useMemo(() => heatOf(points, xAxis, yAxis), [points, xAxis, yAxis]);
  const name = title ?? `${valueLabel} by ${xAxis.label} and ${yAxis.label}`;
  const rows = () => points.map(({ id, x, y, value }) => [String(id), String(x), String(y), metricNumber(value)]);
  const rowsDown = heat.rows.map((label, i) => ({ label, cells: heat.cells[i] ?? [] })).reverse();
  return (
    <VizFrame
      title={name}
      words={`A cell is the mean ${valueLabel} of its trials; their number stands under it.`}
      columns={["trial", xAxis.label, yAxis.label, valueLabel]}
      rows={rows}
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a table wider than the screen scrolls by keyboard too */}
      <section className={styles.scroll} tabIndex={0} aria-label={name}>
        <table className={styles.heat}>
          <caption className="visually-hidden">{name}</caption>
          <thead>
            <tr>
              <th scope="col">
                <span>{yAxis.label}</span> \ <span>{xAxis.label}</span>
              </th>
              {heat.columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rowsDown.map(({ label, cells }) => (
              <tr key={label}>
                <th scope="row">{label}</th>
                {heat.columns.map((column, i) => (
                  <HeatCell key={column} cell={cells[i] ?? null} lo={heat.lo} hi={heat.hi} onPick={onPick} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {heat.hi > heat.lo && <ColourBar label={valueLabel} lo={heat.lo} hi={heat.hi} colour={viridis} />}
    </VizFrame>
  );
}

interface HeatCellProps {
  cell: Cell | null;
  lo: number;
  hi: number;
  onPick: ((ids: Id[]) => void) | undefined;
}

function HeatCell({ cell, lo, hi, onPick }: HeatCellProps) {
  if (cell === null) return <td className={styles.noCell}>–</td>;
  const unit = hi > lo ? (cell.mean - lo) / (hi - lo) : 0.5;
  const words = (
    <>
      {metricNumber(Number(cell.mean.toPrecision(4)))}
      <small>{plural(cell.n, "trial")}</small>
    </>
  );
  return (
    <td style={{ background: viridis(unit), color: textOn(unit) }}>
      {onPick === undefined ? (
        words
      ) : (
        <button type="button" onClick={() => onPick(cell.ids)}>
          {words}
        </button>
      )}
    </td>
  );
}
