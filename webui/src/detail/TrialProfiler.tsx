// System metrics of a trial: a chart per metric, a line per agent and device, every sample of it.

import { useQueries } from "@tanstack/react-query";
import { useEffect, useMemo, useRef } from "react";
import { isEnded } from "../actions/verbs";
import { lines } from "../api/client";
import { queryClient } from "../api/useApi";
import { Chart } from "../chart/Chart";
import { ChartGrid } from "../chart/ChartGrid";
import { CopyCommand } from "../ui/CopyCommand";
import { Empty } from "../ui/Empty";
import { ErrorCard } from "../ui/ErrorCard";
import { Select } from "../ui/Select";
import { Skeleton } from "../ui/Skeleton";
import { text, useUrlState } from "../url";
import css from "./detail.module.css";
import { InView } from "./InView";
import { byMetric, extended, type Labels, NO_SAMPLES, nameOf, type ProfilerBatch, type ProfilerLine } from "./profiler";
import type { Trial } from "./types";
import { useFirstLine } from "./useFirstLine";
import { parseZoom, printZoom } from "./zoom";

const CHART_PX = 300;
const REFRESH_MS = 10_000;

export function TrialProfiler({ trial }: { trial: Trial }) {
  const [agent, setAgent] = useUrlState("agent", text, "");
  const answer = useFirstLine("streamProfilerSeries", { path: { trial_id: trial.id } }, true, isEnded(trial.state));
  if (answer.error !== null && answer.data === undefined) return <ErrorCard error={answer.error} />;
  if (answer.data === undefined) return <Skeleton rows={8} />;
  const labels = answer.data?.labels ?? [];
  if (labels.length === 0) return <NoProfiler isOver={isEnded(trial.state)} />;
  const agents = [...new Set(labels.map((one) => one.agentId ?? ""))];
  const shown = byMetric(labels.filter((one) => agent === "" || one.agentId === agent));
  return (
    <div className={css["stack"]}>
      <div className={css["controls"]}>
        <Select
          label="Agent"
          value={agent}
          options={[{ id: "", label: "All agents" }, ...agents.map((id) => ({ id, label: id }))]}
          onChange={(id) => setAgent(id)}
        />
      </div>
      <ChartGrid>
        {shown.map(([name, series]) => (
          <InView key={name} height={CHART_PX}>
            <ProfilerChart trial={trial} name={name} labels={series} />
          </InView>
        ))}
      </ChartGrid>
    </div>
  );
}

function ProfilerChart({ trial, name, labels }: { trial: Trial; name: string; labels: readonly Labels[] }) {
  const [zoomText, setZoom] = useUrlState("zoom", text, "");
  const zoom = useMemo(() => parseZoom(zoomText), [zoomText]);
  const isOver = isEnded(trial.state);
  const answers = useQueries({
    queries: labels.map((one) => ({
      queryKey: keyOf(trial.id, one),
      queryFn: ({ signal }: { signal: AbortSignal }) => readOn(trial.id, one, signal),
      refetchInterval: isOver ? (false as const) : REFRESH_MS,
      // comparing the whole line with itself costs more than drawing it
      structuralSharing: false,
    })),
  });
  const wasOver = useRef(isOver);
  useEffect(() => {
    // what came between the last look and the end
    if (isOver && !wasOver.current) void queryClient.invalidateQueries({ queryKey: ["profiler", trial.id, name] });
    wasOver.current = isOver;
  }, [isOver, trial.id, name]);
  const error = answers.find((answer) => answer.error !== null)?.error;
  if (error && answers.every((answer) => answer.data === undefined)) return <ErrorCard error={error} />;
  const series = answers.flatMap((answer, i) => {
    const one = labels[i];
    if (answer.data === undefined || one === undefined) return [];
    return [{ id: `${name} ${nameOf(one)}`, name: nameOf(one), x: answer.data.x, y: answer.data.y }];
  });
  return (
    <Chart
      title={name}
      series={series}
      xLabel="time"
      yLabel={name}
      xKind="time"
      range={zoom}
      onZoom={(range) => setZoom(printZoom(range))}
      isLoading={answers.some((answer) => answer.isPending)}
      syncKey={`profiler-${trial.id}`}
    />
  );
}

function keyOf(trialId: number, labels: Labels): unknown[] {
  return ["profiler", trialId, labels.name, labels.agentId, labels.gpuUuid];
}

/** The line as it is known, and what the master has beyond it. */
async function readOn(trialId: number, labels: Labels, signal: AbortSignal): Promise<ProfilerLine> {
  const known = queryClient.getQueryData<ProfilerLine>(keyOf(trialId, labels)) ?? NO_SAMPLES;
  return extended(known, await read(trialId, labels, known.last, signal));
}

async function read(trialId: number, labels: Labels, after: number, signal: AbortSignal): Promise<ProfilerBatch[]> {
  const { name, agentId, gpuUuid } = labels;
  const query = { "labels.name": name, "labels.agentId": agentId, "labels.gpuUuid": gpuUuid, after };
  const batches: ProfilerBatch[] = [];
  for await (const one of lines("streamProfilerMetrics", { path: { trial_id: trialId }, query }, signal)) {
    batches.push(one.batch);
  }
  return batches;
}

function NoProfiler({ isOver }: { isOver: boolean }) {
  return (
    <Empty title={isOver ? "The profiler was off" : "The profiler has reported nothing so far"}>
      <p>
        Load, memory, disks and network are drawn here once it is on. For Trial APIs switch it on in the configuration:
      </p>
      <CopyCommand text={"profiling:\n  enabled: true"} />
      <p>With the Core API start it in the code:</p>
      <CopyCommand text="core_context.profiler.on()" />
    </Empty>
  );
}
