// All metrics of a trial: charts in sections by prefix, found by a pattern, pinned in front.

import { Pin, PinOff } from "lucide-react";
import { useCallback, useMemo } from "react";
import { isEnded } from "../actions/verbs";
import { ChartGrid } from "../chart/ChartGrid";
import { IconButton } from "../ui/Button";
import { CopyCommand } from "../ui/CopyCommand";
import { Empty } from "../ui/Empty";
import { SearchField } from "../ui/SearchField";
import { text, useUrlState } from "../url";
import { ChartControls } from "./ChartControls";
import { type ChartSettings, useChartSettings, usePins } from "./chartSettings";
import css from "./detail.module.css";
import { InView } from "./InView";
import { MetricChart } from "./MetricChart";
import { type MetricChart as Entry, matcher, metricsOf, sections } from "./metricNames";
import type { Trial } from "./types";

const CHART_PX = 300;

export function TrialMetrics({ trial }: { trial: Trial }) {
  const settings = useChartSettings();
  const [filter, setFilter] = useUrlState("filter", text, "");
  const [pins, setPins] = usePins();
  const all = useMemo(() => sections(metricsOf(trial.summaryMetrics)), [trial.summaryMetrics]);
  const shown = useMemo(() => filtered(all, filter), [all, filter]);
  const toggle = useCallback(
    (title: string): void => setPins(pins.includes(title) ? pins.filter((one) => one !== title) : [...pins, title]),
    [pins, setPins],
  );
  if (all.length === 0) return <NoMetrics isOver={isEnded(trial.state)} />;
  const pinned = shown.flatMap((section) => section.charts).filter((chart) => pins.includes(chart.title));
  const card = (chart: Entry) => (
    <ChartCard
      key={chart.title}
      chart={chart}
      trial={trial}
      settings={settings}
      isPinned={pins.includes(chart.title)}
      onPin={toggle}
    />
  );
  return (
    <div className={css["stack"]}>
      <ChartControls settings={settings}>
        <SearchField label="Metrics that match" value={filter} onChange={(next) => setFilter(next, "replace")} />
      </ChartControls>
      {pinned.length > 0 && <Section title="Pinned">{pinned.map(card)}</Section>}
      {shown.map((section) => (
        <Section key={section.prefix} title={section.prefix === "" ? "Metrics" : section.prefix}>
          {section.charts.filter((chart) => !pins.includes(chart.title)).map(card)}
        </Section>
      ))}
      {shown.length === 0 && <Empty title={`No metric matches ${filter}`}>The filter is a regular expression.</Empty>}
    </div>
  );
}

function filtered(all: ReturnType<typeof sections>, filter: string): ReturnType<typeof sections> {
  const fits = matcher(filter);
  return all
    .map((section) => ({
      ...section,
      charts: section.charts.filter((chart) => fits(chart.title) || chart.metrics.some((metric) => fits(metric.name))),
    }))
    .filter((section) => section.charts.length > 0);
}

function Section({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section className={css["stack"]} aria-label={title}>
      <h2>{title}</h2>
      <ChartGrid>{children}</ChartGrid>
    </section>
  );
}

interface ChartCardProps {
  chart: Entry;
  trial: Trial;
  settings: ChartSettings;
  isPinned: boolean;
  onPin: (title: string) => void;
}

function ChartCard({ chart, trial, settings, isPinned, onPin }: ChartCardProps) {
  const ids = useMemo(() => [trial.id], [trial.id]);
  const markers = useBestMarker(trial);
  return (
    <div className={css["chart"]}>
      <InView height={CHART_PX}>
        <MetricChart
          title={chart.title}
          trialIds={ids}
          metrics={chart.metrics}
          settings={settings}
          syncKey={`trial-${trial.id}`}
          {...(markers === undefined ? {} : { markers })}
        />
      </InView>
      <div className={css["pin"]}>
        <IconButton
          label={`${isPinned ? "Unpin" : "Pin"} ${chart.title}`}
          aria-pressed={isPinned}
          onPress={() => onPin(chart.title)}
        >
          {isPinned ? <PinOff size={14} aria-hidden="true" /> : <Pin size={14} aria-hidden="true" />}
        </IconButton>
      </div>
    </div>
  );
}

/** Where the best checkpoint was taken. */
export function useBestMarker(trial: Trial): { x: number; label: string }[] | undefined {
  const best = trial.bestCheckpoint?.totalBatches;
  return useMemo(() => (best === undefined ? undefined : [{ x: best, label: "best checkpoint" }]), [best]);
}

export function NoMetrics({ isOver }: { isOver: boolean }) {
  if (isOver) return <Empty title="No metrics">The trial ended without any.</Empty>;
  return (
    <Empty title="This trial has reported no metrics">
      <p>Report them from your code, and they are drawn here as they come:</p>
      <CopyCommand
        text={'core_context.train.report_metrics(group="training", steps_completed=n, metrics={"loss": loss})'}
      />
    </Empty>
  );
}
