// The charts a trial's overview shows: those that are pinned, else its searcher metric and what is reported most.

import { useMemo } from "react";
import { isEnded } from "../actions/verbs";
import { useChartSettings, usePins } from "./chartSettings";
import css from "./detail.module.css";
import { MetricChart } from "./MetricChart";
import { type MetricChart as Entry, metricsOf, sections } from "./metricNames";
import { NoMetrics, useBestMarker } from "./TrialMetrics";
import type { Trial } from "./types";

const SHOWN = 4;

export function PinnedCharts({ trial, searcherMetric }: { trial: Trial; searcherMetric: string | null }) {
  const settings = useChartSettings();
  const [pins] = usePins();
  const ids = useMemo(() => [trial.id], [trial.id]);
  const markers = useBestMarker(trial);
  const charts = useMemo(
    () =>
      chosen(
        sections(metricsOf(trial.summaryMetrics)).flatMap((section) => section.charts),
        pins,
        searcherMetric,
      ),
    [trial.summaryMetrics, pins, searcherMetric],
  );
  if (charts.length === 0) return <NoMetrics isOver={isEnded(trial.state)} />;
  return (
    <div className={css["pinned"]}>
      {charts.map((chart) => (
        <MetricChart
          key={chart.title}
          title={chart.title}
          trialIds={ids}
          metrics={chart.metrics}
          settings={settings}
          height={200}
          syncKey={`trial-${trial.id}`}
          {...(markers === undefined ? {} : { markers })}
        />
      ))}
    </div>
  );
}

export function chosen(charts: readonly Entry[], pins: readonly string[], searcherMetric: string | null): Entry[] {
  const rank = (chart: Entry): number => {
    const pin = pins.indexOf(chart.title);
    if (pin >= 0) return pin - pins.length;
    return chart.metrics.some((metric) => metric.name === searcherMetric && metric.group === "validation") ? 0 : 1;
  };
  return [...charts].sort((a, b) => rank(a) - rank(b)).slice(0, SHOWN);
}
