// A row per metric, a column per version: exact values, and how far each is from the version they are held against.
import { useMemo } from "react";
import type { Schemas } from "../../api/schema";
import { DataTable } from "../../ui/DataTable";
import { Empty } from "../../ui/Empty";
import { deltaText, plural } from "../../ui/format";
import { Tag } from "../../ui/Tag";
import { type ComparedMetric, comparedMetrics } from "./compare";
import own from "./models.module.css";

interface MetricComparisonProps {
  versions: readonly Schemas["ModelVersion"][];
  /** The number of the version that the others are held against. */
  base: number;
}

export function MetricComparison({ versions, base }: MetricComparisonProps) {
  const rows = useMemo(() => comparedMetrics(versions.map(metricsOf)), [versions]);
  const baseAt = versions.findIndex(({ version }) => version === base);
  if (rows.length === 0) {
    return (
      <Empty title="No metrics to compare">
        The trials reported none at the steps of these checkpoints. Their charts show what they reported otherwise.
      </Empty>
    );
  }
  const differing = rows.filter((row) => row.differs).length;
  return (
    <>
      <p>
        {differing} of {plural(rows.length, "metric")} {differing === 1 ? "differs" : "differ"}; differences are against
        version {base}.
      </p>
      <DataTable
        caption={`Metrics, exact, against version ${base}`}
        hidesCaption
        rows={rows}
        rowKey={(row) => `${row.group} ${row.name}`}
        columns={[
          { key: "name", label: "Metric", render: (row) => <Name row={row} /> },
          ...versions.map(({ version }, at) => ({
            key: String(version),
            label: version === base ? `Version ${version} (base)` : `Version ${version}`,
            align: "right" as const,
            render: (row: ComparedMetric) => <Cell row={row} at={at} baseAt={baseAt} />,
          })),
        ]}
      />
    </>
  );
}

function Name({ row }: { row: ComparedMetric }) {
  return (
    <span className={own["name"]}>
      <span>
        {row.group} {row.name}
      </span>
      {row.differs && <Tag text="differs" />}
    </span>
  );
}

function Cell({ row, at, baseAt }: { row: ComparedMetric; at: number; baseAt: number }) {
  const value = row.values[at] ?? null;
  const base = row.values[baseAt] ?? null;
  if (value === null) return <span className={own["about"]}>none</span>;
  // every digit: a rounded number would look exact
  return (
    <span className={own["number"]}>
      <span>{String(value)}</span>
      {base !== null && at !== baseAt && <span className={own["delta"]}>{deltaText(value, base)}</span>}
    </span>
  );
}

function metricsOf({ version, checkpoint }: Schemas["ModelVersion"]) {
  const { validationMetrics, trainingMetrics } = checkpoint.training;
  return {
    version,
    validation: validationMetrics?.avgMetrics ?? {},
    training: trainingMetrics?.avgMetrics ?? {},
  };
}
