// The searcher metric of an experiment's best trial so far, as a line of a few pixels.
import { useApi } from "../../api/useApi";
import { Sparkline } from "../../chart/Sparkline";
import { metricNumber } from "../../ui/format";

const POINTS = 40;

export function Trend({ trialId, metric }: { trialId: number; metric: string }) {
  const query = {
    trialIds: [trialId],
    metricIds: [`validation.${metric}`],
    sampling: "bucket" as const,
    maxDatapoints: POINTS,
  };
  const series = useApi("compareTrials", { query }, { refetchInterval: 30_000, keepPrevious: true });
  const values = valuesOf(series.data);
  if (values.length < 2) return null;
  return (
    <Sparkline
      values={values}
      width={160}
      label={`${metric} of trial ${trialId}, now ${metricNumber(values.at(-1))}`}
    />
  );
}

function valuesOf(answer: unknown): (number | null)[] {
  const { trials } = (answer ?? { trials: [] }) as { trials: { metrics: { last?: unknown[] }[] }[] };
  return (trials[0]?.metrics[0]?.last ?? []).map((value) => (typeof value === "number" ? value : null));
}
