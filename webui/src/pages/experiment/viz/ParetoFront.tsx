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
import { firstTwo, isSmallerUsual } from "./objectives";
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
  const [asked, setChosen] = useUrlState("metrics", list, NONE);
  const chosen = asked.length === 2 ? asked : firstTwo(experiment.config, names);
  const [smaller, setSmaller] = useUrlState("smaller", list, NONE);
  const directions = chosen.map((name, i) => smaller[i] ?? String(isSmallerUsual(experiment.config, name)));
  const answer = useApi(
    "getParetoFront",
    {
      path: { experiment_id: experiment.id },
      query: { metrics: chosen, smallerIsBetter: directions },
    },
    { enabled: chosen.length === 2 },
  );
  const pick = (i: number, name: string): void => {
    const other = (i === 0 ? chosen[1] : chosen[0]) ?? names.find((one) => one !== name) ?? "";
    setChosen(i === 0 ? [name, other] : [other, name]);
    setSmaller(NONE);
  };
  const turn = (i: number, word: string): void => setSmaller(directions.map((old, j) => (j === i ? word : old)));
  if (chosen.length < 2)
    return <Empty title="No front to draw">It needs two metrics that validations have reported.</Empty>;
  return (
    <div className={css["stack"]}>
      <div className={css["controls"]}>
        {["First metric", "Second metric"].map((label, i) => (
          <div key={label} className={css["row"]}>
            <Select
              label={label}
              value={chosen[i] ?? ""}
              options={optionsOf(names, chosen[i])}
              onChange={(id) => pick(i, id)}
            />
            <Select
              label={`${label}: direction`}
              value={directions[i] ?? "true"}
              options={DIRECTIONS}
              onChange={(id) => turn(i, id)}
            />
          </div>
        ))}
      </div>
      <Front answer={answer} experimentId={experiment.id} />
    </div>
  );
}

/** A metric of the address that no trial has reported is still shown as chosen. */
function optionsOf(names: readonly string[], value: string | undefined): { id: string; label: string }[] {
  const all = value === undefined || names.includes(value) ? names : [value, ...names];
  return all.map((name) => ({ id: name, label: name }));
}

function Front({
  answer,
  experimentId,
}: {
  answer: ReturnType<typeof useApi<"getParetoFront">>;
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
