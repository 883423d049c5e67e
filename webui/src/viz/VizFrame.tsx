// What surrounds every picture: title, a line of words, the menu with table twin and CSV, and a summary for ears.
import { Ellipsis } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { csvRows } from "../chart/csv";
import { downloadCsv } from "../chart/png";
import { TableTwin } from "../chart/TableTwin";
import { Menu } from "../ui/Menu";
import styles from "./viz.module.css";

interface VizFrameProps {
  title: string;
  words?: string | undefined;
  columns: readonly string[];
  /** The rows of the table twin, asked for only when somebody wants them. */
  rows: () => readonly (readonly string[])[];
  height?: number;
  children: ReactNode;
}

export function VizFrame({ title, words, columns, rows, height = 360, children }: VizFrameProps) {
  const id = useId();
  const [asTable, setAsTable] = useState(false);
  const items = [
    { id: "table", label: asTable ? "View as picture" : "View as table", onAction: () => setAsTable(!asTable) },
    { id: "csv", label: "Download CSV", onAction: () => downloadCsv(csvRows([columns, ...rows()]), title) },
  ];
  return (
    <figure className={styles.figure} aria-labelledby={id}>
      <div className={styles.titleRow}>
        <figcaption id={id} className={styles.title}>
          {title}
        </figcaption>
        <Menu label={`${title}: menu`} items={items} icon={<Ellipsis size={16} aria-hidden="true" />} />
      </div>
      {words !== undefined && <p className={styles.words}>{words}</p>}
      {asTable ? <TableTwin caption={title} columns={columns} rows={rows()} height={height} /> : children}
    </figure>
  );
}
