// The rows of the hyperparameter pictures: values of every trial and the chosen metric at the chosen moment.

import { useMemo } from "react";
import { isSmallerBetter } from "../../../detail/config";
import css from "../../../detail/detail.module.css";
import { pointOf } from "../../../detail/hparams";
import { metricOf } from "../../../detail/metricNames";
import { useFirstLine } from "../../../detail/useFirstLine";
import { Select } from "../../../ui/Select";
import { text, useUrlState } from "../../../url";
import { defaultMetric, metricChoices, trialValue } from "./metricChoice";
import type { VizProps } from "./types";

export interface VizRow {
  id: number;
  values: Record<string, number | string>;
  metric?: number;
}

export interface VizRows {
  rows: VizRow[];
  metricKey: string;
  controls: React.ReactNode;
}

interface Snapshot {
  trials: { trialId: number; metric: number }[];
}

export function useVizRows({ experiment, found }: VizProps): VizRows {
  const choices = useMemo(() => metricChoices(found.trials), [found.trials]);
  const [metricKey, setMetric] = useUrlState("metric", text, defaultMetric(experiment, choices));
  const [at, setAt] = useUrlState("at", text, "best");
  const batch = /^\d+$/.test(at) ? Number(at) : null;
  const batches = useBatches(experiment.id, metricKey);
  const snapshot = useSnapshot(experiment.id, metricKey, batch);
  const rows = useMemo(() => {
    const atBatch = new Map((snapshot?.trials ?? []).map((one) => [one.trialId, one.metric]));
    return found.trials.map((trial, i): VizRow => {
      const metric =
        batch === null
          ? trialValue(trial, metricKey, at === "last" ? "last" : "best", experiment)
          : atBatch.get(trial.id);
      const row = { id: trial.id, values: pointsOf(found.flats[i] ?? {}) };
      return metric === null || metric === undefined ? row : { ...row, metric };
    });
  }, [found.trials, found.flats, metricKey, at, batch, snapshot, experiment]);
  const word = isSmallerBetter(experiment.config) ? "lowest" : "highest";
  const moments = [
    { id: "best", label: `Best of each trial (${word})` },
    { id: "last", label: "Last of each trial" },
    ...batches.map((one) => ({ id: String(one), label: `At batch ${one.toLocaleString("en")}` })),
  ];
  const controls = (
    <div className={css["controls"]}>
      <Select
        label="Metric"
        value={metricKey}
        options={choices.map((id) => ({ id, label: id }))}
        onChange={setMetric}
      />
      <Select label="Value" value={at} options={moments} onChange={setAt} />
    </div>
  );
  return { rows, metricKey, controls };
}

function pointsOf(flat: Record<string, unknown>): Record<string, number | string> {
  const points: Record<string, number | string> = {};
  for (const [key, value] of Object.entries(flat)) {
    const point = pointOf(value as string | number | boolean | null);
    if (point !== undefined) points[key] = point;
  }
  return points;
}

const NO_BATCHES: number[] = [];
const MOST_BATCHES = 200;

/** Batches at which the metric was reported, thinned where there are very many. */
function useBatches(experimentId: number, metricKey: string): number[] {
  const { group, name } = metricOf(metricKey);
  const params = { path: { experiment_id: experimentId }, query: { metricName: name, group } };
  const { data } = useFirstLine("streamMetricBatches", params, metricKey !== "");
  return useMemo(() => {
    const all = data?.batches ?? NO_BATCHES;
    const step = Math.max(1, Math.ceil(all.length / MOST_BATCHES));
    return all.filter((_, i) => (all.length - 1 - i) % step === 0);
  }, [data]);
}

function useSnapshot(experimentId: number, metricKey: string, batch: number | null): Snapshot | null | undefined {
  const { group, name } = metricOf(metricKey);
  const margin = batch === null ? 0 : Math.ceil(batch * 0.05);
  const query = { metricName: name, group, batchesProcessed: batch ?? 0, batchesMargin: margin };
  const params = { path: { experiment_id: experimentId }, query };
  return useFirstLine("streamTrialsSnapshot", params, batch !== null && metricKey !== "").data;
}
