// One chart of one or more metrics of one or more trials, which fetches its own data while it is on the page.

import { useMemo } from "react";
import { Chart } from "../chart/Chart";
import type { Range, Series } from "../chart/types";
import { ErrorCard } from "../ui/ErrorCard";
import type { ChartSettings } from "./chartSettings";
import { legendName, type Metric } from "./metricNames";
import { chartSeries, X_LABELS } from "./series";
import { allPointsUrl, useSeries } from "./useSeries";

export interface MetricChartProps {
  title: string;
  trialIds: number[];
  metrics: Metric[];
  settings: ChartSettings;
  /** What the legend calls a series; left out for the metrics of one trial. */
  nameOf?: (trialId: number, metric: Metric) => string;
  /** A colour that stands for something; left out, or undefined for a trial, it is the trial's own. */
  colourOf?: (trialId: number) => string | undefined;
  markers?: { x: number; label: string }[];
  height?: number;
  syncKey?: string;
  note?: string;
}

export function MetricChart(props: MetricChartProps) {
  const { title, trialIds, metrics, settings, markers, height = 240, syncKey, note, colourOf } = props;
  const { trials, isPending, error, refetch } = useSeries(trialIds, metrics, settings.axis, settings.zoom);
  const nameOf = useMemo(() => props.nameOf ?? legendName(metrics), [props.nameOf, metrics]);
  const series = useMemo(
    () => coloured(chartSeries(trials, metrics, settings.axis, nameOf), colourOf),
    [trials, metrics, settings.axis, nameOf, colourOf],
  );
  if (error !== null && series.length === 0) return <ErrorCard error={error} onRetry={refetch} />;
  return (
    <Chart
      title={title}
      series={series}
      xLabel={X_LABELS[settings.axis]}
      yLabel={metrics[0]?.name ?? title}
      xKind={settings.axis === "time" ? "time" : settings.axis === "relative" ? "duration" : "number"}
      logY={settings.isLog}
      smoothing={settings.smoothing}
      hideOutliers={settings.hidesOutliers}
      height={height}
      range={settings.zoom as Range | null}
      onZoom={settings.setZoom}
      isLoading={isPending}
      allPointsUrl={allPointsUrl(trialIds, metrics)}
      {...(syncKey === undefined ? {} : { syncKey })}
      {...(settings.axis === "batch" && markers !== undefined ? { markers } : {})}
      {...(note === undefined ? {} : { note })}
    />
  );
}

function coloured(series: Series[], colourOf: MetricChartProps["colourOf"]): Series[] {
  if (colourOf === undefined) return series;
  return series.map((one) => {
    const colour = one.trialId === undefined ? undefined : colourOf(one.trialId);
    return colour === undefined ? one : { ...one, colour };
  });
}
