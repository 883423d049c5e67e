// Trials of an experiment in a small table; the hyperparameters that differ are columns.

import type { Axis } from "../../detail/hparams";
import { flatten, textOf } from "../../detail/hparams";
import type { Trial } from "../../detail/types";
import { Checkbox } from "../../ui/Checkbox";
import { type Column, DataTable } from "../../ui/DataTable";
import { bytes, duration, metricNumber } from "../../ui/format";
import { StatePill } from "../../ui/StatePill";
import { Link } from "../../url";

export interface TrialTableProps {
  trials: readonly Trial[];
  caption: string;
  hidesCaption?: boolean | undefined;
  /** Only what a glance needs: state, metric and hyperparameters. */
  isBrief?: boolean | undefined;
  metricName: string;
  axes?: readonly Axis[] | undefined;
  selection?: { ids: readonly number[]; onChange: (ids: number[]) => void } | undefined;
}

const MOST_AXES = 6;

export function TrialTable(props: TrialTableProps) {
  const { trials, caption, hidesCaption, isBrief = false, metricName, axes = [], selection } = props;
  const columns: Column<Trial>[] = [
    ...(selection === undefined ? [] : [selectColumn(selection)]),
    {
      key: "id",
      label: "Trial",
      render: (trial) => <Link href={`/experiments/${trial.experimentId}/trials/${trial.id}`}>{trial.id}</Link>,
    },
    { key: "state", label: "State", render: (trial) => <StatePill state={trial.state} /> },
    {
      key: "metric",
      label: `Best ${metricName}`,
      align: "right",
      render: (trial) => metricNumber(trial.searcherMetricValue),
    },
    ...axes.slice(0, MOST_AXES).map(axisColumn),
    ...(isBrief ? [] : REST),
  ];
  return (
    <DataTable
      caption={caption}
      hidesCaption={hidesCaption}
      rows={trials}
      rowKey={(trial) => trial.id}
      columns={columns}
    />
  );
}

const REST: Column<Trial>[] = [
  {
    key: "batches",
    label: "Batches",
    align: "right",
    render: (trial) => trial.totalBatchesProcessed.toLocaleString("en"),
  },
  { key: "duration", label: "Ran for", align: "right", render: (trial) => duration(trial.wallClockTime ?? 0) },
  { key: "restarts", label: "Restarts", align: "right" },
  { key: "checkpoints", label: "Checkpoints", align: "right", render: checkpoints },
  { key: "label", label: "Log policy", render: (trial) => trial.logPolicyMatched ?? "" },
];

function checkpoints(trial: Trial): string {
  return trial.checkpointCount ? `${trial.checkpointCount}, ${bytes(trial.totalCheckpointSize)}` : "";
}

function axisColumn(axis: Axis): Column<Trial> {
  return {
    key: `hp.${axis.key}`,
    label: axis.label,
    align: axis.kind === "category" ? "left" : "right",
    render: (trial) => {
      const value = flatten(trial.hparams)[axis.key];
      return typeof value === "number" ? metricNumber(value) : value === undefined ? "" : textOf(value);
    },
  };
}

function selectColumn({ ids, onChange }: NonNullable<TrialTableProps["selection"]>): Column<Trial> {
  return {
    key: "select",
    label: "Select",
    render: (trial) => (
      <Checkbox
        isSelected={ids.includes(trial.id)}
        onChange={(on) => onChange(on ? [...ids, trial.id] : ids.filter((id) => id !== trial.id))}
        aria-label={`Select trial ${trial.id}`}
      />
    ),
  };
}
