// The learning curves of the best trials, one line per trial, with the trials beside them as a table.

import { useMemo } from "react";
import { useLive } from "../../../api/live";
import { ChartControls } from "../../../detail/ChartControls";
import { useChartSettings } from "../../../detail/chartSettings";
import { searcherMetric } from "../../../detail/config";
import css from "../../../detail/detail.module.css";
import { MetricChart } from "../../../detail/MetricChart";
import { metricOf } from "../../../detail/metricNames";
import { Select } from "../../../ui/Select";
import { int, text, useUrlState } from "../../../url";
import { TrialTable } from "../TrialTable";
import { BY_TRIAL, useHparamColours } from "./hparamColours";
import { defaultMetric, metricChoices } from "./metricChoice";
import { NeedsTrials } from "./Needs";
import type { VizProps } from "./types";

const COUNTS = [5, 10, 20, 50, 100];

export function LearningCurve({ experiment, found }: VizProps) {
  const settings = useChartSettings();
  const choices = useMemo(() => metricChoices(found.trials), [found.trials]);
  const [metricKey, setMetric] = useUrlState("metric", text, defaultMetric(experiment, choices));
  const [count, setCount] = useUrlState("top", int, 10);
  const best = useMemo(() => found.trials.slice(0, count), [found.trials, count]);
  const idText = best.map((trial) => trial.id).join(",");
  const ids = useMemo(
    () =>
      idText === ""
        ? []
        : idText
            .split(",")
            .map(Number)
            .sort((a, b) => a - b),
    [idText],
  );
  useLive(useMemo(() => ({ metrics: { trialIds: ids } }), [ids]));
  const metrics = useMemo(() => [metricOf(metricKey)], [metricKey]);
  const [colour, setColour] = useUrlState("colour", text, BY_TRIAL);
  const { colourOf, key } = useHparamColours(found, colour);
  if (metricKey === "" || best.length === 0) return <NeedsTrials />;
  return (
    <div className={css["stack"]}>
      <ChartControls settings={settings}>
        <Select
          label="Metric"
          value={metricKey}
          options={choices.map((id) => ({ id, label: id }))}
          onChange={setMetric}
        />
        <Select
          label="Trials"
          value={String(count)}
          options={COUNTS.map((n) => ({ id: String(n), label: `Best ${n}` }))}
          onChange={(id) => setCount(Number(id))}
        />
        <Select
          label="Colour"
          value={colour}
          options={[{ id: BY_TRIAL, label: "Trial" }, ...found.axes.map(({ key: id, label }) => ({ id, label }))]}
          onChange={setColour}
        />
      </ChartControls>
      <MetricChart
        title={`${metricKey}, best ${Math.min(count, found.total)} of ${found.total} trials`}
        trialIds={ids}
        metrics={metrics}
        settings={settings}
        nameOf={trialLabel}
        {...(colourOf === undefined ? {} : { colourOf })}
        height={420}
      />
      {key}
      <TrialTable
        caption="Trials in the chart"
        trials={best}
        axes={found.axes}
        metricName={searcherMetric(experiment.config) ?? "metric"}
      />
    </div>
  );
}

function trialLabel(trialId: number): string {
  return `Trial ${trialId}`;
}
