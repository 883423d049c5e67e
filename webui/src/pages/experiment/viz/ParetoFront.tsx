// Trials by two metrics at once, and those that no other beats in both.

import { useMemo } from "react";
import { useApi } from "../../../api/useApi";
import css from "../../../detail/detail.module.css";
import { metricOf } from "../../../detail/metricNames";
import { Empty } from "../../../ui/Empty";
import { ErrorCard } from "../../../ui/ErrorCard";
import { Select } from "../../../ui/Select";
import { Skeleton } from "../../../ui/Skeleton";
import { list, navigate, useUrlState } from "../../../url";
import { Pareto } from "../../../viz/Pareto";
import { metricChoices } from "./metricChoice";
import type { VizProps } from "./types";

const NONE: string[] = [];
const DIRECTIONS = [
  { id: "true", label: "smaller is better" },
  { id: "false", label: "greater is better" },
];

export function ParetoFront({ experiment, found }: VizProps) {
  const names = useMemo(
    () => [
      ...new Set(
        metricChoices(found.trials)
          .filter((key) => key.startsWith("validation."))
          .map((key) => metricOf(key).name),
      ),
    ],
    [found.trials],
  );
  const [chosen, setChosen] = useUrlState("metrics", list, NONE);
  const [smaller, setSmaller] = useUrlState("smaller", list, NONE);
  const query =
    chosen.length === 2 ? { metrics: chosen, smallerIsBetter: chosen.map((_, i) => smaller[i] ?? "true") } : {};
  const answer = useApi("GET /api/v1/experiments/{experiment_id}/pareto-front", {
    path: { experiment_id: experiment.id },
    query,
  });
  const shown = answer.data?.metrics.map((metric) => metric.name) ?? chosen;
  const pick = (i: number, name: string): void => {
    const other = (i === 0 ? shown[1] : shown[0]) ?? names.find((one) => one !== name) ?? "";
    setChosen(i === 0 ? [name, other] : [other, name]);
  };
  const turn = (i: number, word: string): void =>
    setSmaller([0, 1].map((j) => (j === i ? word : (smaller[j] ?? "true"))));
  return (
    <div className={css["stack"]}>
      <div className={css["controls"]}>
        {["First metric", "Second metric"].map((label, i) => (
          <div key={label} className={css["row"]}>
            <Select
              label={label}
              value={shown[i] ?? ""}
              options={optionsOf(names, shown[i])}
              onChange={(id) => pick(i, id)}
            />
            <Select
              label={`${label}: direction`}
              value={smaller[i] ?? "true"}
              options={DIRECTIONS}
              onChange={(id) => turn(i, id)}
              isDisabled={chosen.length !== 2}
            />
          </div>
        ))}
      </div>
      <Front answer={answer} experimentId={experiment.id} />
    </div>
  );
}

function optionsOf(names: readonly string[], value: string | undefined): { id: string; label: string }[] {
  const missing =
    value === undefined ? [{ id: "", label: "Choose…" }] : names.includes(value) ? [] : [{ id: value, label: value }];
  return [...missing, ...names.map((name) => ({ id: name, label: name }))];
}

function Front({
  answer,
  experimentId,
}: {
  answer: ReturnType<typeof useApi<"GET /api/v1/experiments/{experiment_id}/pareto-front">>;
  experimentId: number;
}) {
  if (answer.error) return <ErrorCard error={answer.error} onRetry={() => void answer.refetch()} />;
  if (answer.data === undefined) return <Skeleton rows={6} />;
  const { metrics, points, front, message, trialsUsed, trialsCompleted } = answer.data;
  if (points.length === 0 || metrics.length < 2) {
    return (
      <Empty title="No front to draw">{message || "Choose two metrics that completed trials have reported."}</Empty>
    );
  }
  return (
    <>
      <Pareto
        points={points.map((point) => ({ id: point.trialId, values: point.values, label: `Trial ${point.trialId}` }))}
        front={front}
        axes={metrics.map((metric) => ({
          label: metric.name,
          kind: "linear" as const,
          better: metric.smallerIsBetter ? ("lower" as const) : ("higher" as const),
        }))}
        onPick={(id) => navigate(`/experiments/${experimentId}/trials/${id}`)}
      />
      <p className={css["muted"]}>
        {trialsUsed} of {trialsCompleted} completed trials reported both.
      </p>
    </>
  );
}
