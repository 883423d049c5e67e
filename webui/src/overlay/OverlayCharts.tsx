// Lines of several trials over one another, one chart per metric; only charts in sight read their data.
import { useMemo } from "react";
import { Chart } from "../chart/Chart";
import { ChartGrid } from "../chart/ChartGrid";
import { ChartControls } from "../detail/ChartControls";
import { type ChartSettings, useChartSettings } from "../detail/chartSettings";
import { InView } from "../detail/InView";
import { keyOf, type Metric, matcher } from "../detail/metricNames";
import { chartSeries, X_LABELS } from "../detail/series";
import { allPointsUrl, useSeries } from "../detail/useSeries";
import { Empty } from "../ui/Empty";
import { ErrorCard } from "../ui/ErrorCard";
import { SearchField } from "../ui/SearchField";
import { text, useUrlState } from "../url";
import { cappedNote, LINES, type OverlaidTrial, sharedMetrics } from "./trials";

interface OverlayChartsProps {
  trials: readonly OverlaidTrial[];
  /** How many there are, of which `trials` may be the first. */
  total: number;
  baseId: number | null;
}

export function OverlayCharts({ trials, total, baseId }: OverlayChartsProps) {
  const settings = useChartSettings();
  const [wanted, setWanted] = useUrlState("metrics", text, "");
  const metrics = useMemo(() => sharedMetrics(trials), [trials]);
  const drawn = useMemo(() => trials.slice(0, LINES), [trials]);
  const isWanted = matcher(wanted);
  const shown = metrics.filter((metric) => isWanted(keyOf(metric)));
  return (
    <>
      <ChartControls settings={settings}>
        <SearchField label="Find a metric" showsLabel value={wanted} onChange={setWanted} />
      </ChartControls>
      {shown.length === 0 && (
        <Empty title={metrics.length === 0 ? "These trials reported no metrics" : "No metric has this name"} />
      )}
      <ChartGrid syncKey="overlay">
        {shown.map((metric) => (
          <InView key={keyOf(metric)} height={260}>
            <Overlay
              metric={metric}
              trials={drawn}
              baseId={baseId}
              settings={settings}
              note={cappedNote(drawn.length, total)}
            />
          </InView>
        ))}
      </ChartGrid>
    </>
  );
}

interface OverlayProps {
  metric: Metric;
  trials: readonly OverlaidTrial[];
  baseId: number | null;
  settings: ChartSettings;
  note: string | undefined;
}

function Overlay({ metric, trials, baseId, settings, note }: OverlayProps) {
  const ids = useMemo(() => trials.map((one) => one.id), [trials]);
  const metrics = useMemo(() => [metric], [metric]);
  const answer = useSeries(ids, metrics, settings.axis, settings.zoom);
  const series = useMemo(() => {
    const names = new Map(trials.map((one) => [one.id, `${one.id} ${one.name}`]));
    const all = chartSeries(answer.trials, metrics, settings.axis, (id) => names.get(id) ?? String(id));
    return all.map((one) => (one.trialId === baseId ? { ...one, baseline: true } : one));
  }, [answer.trials, metrics, settings.axis, trials, baseId]);
  if (answer.error !== null && series.length === 0) return <ErrorCard error={answer.error} onRetry={answer.refetch} />;
  return (
    <Chart
      title={keyOf(metric)}
      series={series}
      xLabel={X_LABELS[settings.axis]}
      yLabel={metric.name}
      xKind={settings.axis === "time" ? "time" : settings.axis === "relative" ? "duration" : "number"}
      logY={settings.isLog}
      smoothing={settings.smoothing}
      hideOutliers={settings.hidesOutliers}
      range={settings.zoom}
      onZoom={settings.setZoom}
      isLoading={answer.isPending}
      allPointsUrl={allPointsUrl(ids, metrics)}
      syncKey="overlay"
      {...(note === undefined ? {} : { note })}
    />
  );
}
