// Named bars from the greatest to the least, such as the importance of hyperparameters; the numbers stand beside them.
import { metricNumber } from "../ui/format";
import { VizFrame } from "./VizFrame";
import styles from "./viz.module.css";

export interface BarItem {
  label: string;
  value: number;
  detail?: string;
}

export interface BarsProps {
  items: readonly BarItem[];
  valueLabel?: string | undefined;
  title?: string | undefined;
  words?: string | undefined;
}

export function Bars({ items, valueLabel = "importance", title = "Importance", words }: BarsProps) {
  const sorted = [...items].sort((a, b) => b.value - a.value);
  const most = sorted.reduce((top, item) => Math.max(top, item.value), 0);
  const rows = () => sorted.map(({ label, value, detail = "" }) => [label, metricNumber(value), detail]);
  return (
    <VizFrame title={title} words={words} columns={["name", valueLabel, "detail"]} rows={rows}>
      <ul className={styles.bars}>
        {sorted.map(({ label, value, detail }) => (
          <li key={label} title={detail}>
            <span className={styles.barLabel} title={label}>
              {label}
            </span>
            <span className={styles.barTrack}>
              <span className={styles.bar} style={{ width: `${most > 0 ? Math.max(0, (value / most) * 100) : 0}%` }} />
            </span>
            <span className={styles.barValue}>{metricNumber(Number(value.toPrecision(3)))}</span>
          </li>
        ))}
      </ul>
    </VizFrame>
  );
}
