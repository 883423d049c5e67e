// Which hyperparameter mattered most for a metric, from the trials that have finished.

import { useMemo } from "react";
import { useApi } from "../../../api/useApi";
import css from "../../../detail/detail.module.css";
import { metricOf } from "../../../detail/metricNames";
import { Empty } from "../../../ui/Empty";
import { ErrorCard } from "../../../ui/ErrorCard";
import { Select } from "../../../ui/Select";
import { Skeleton } from "../../../ui/Skeleton";
import { text, useUrlState } from "../../../url";
import { Bars } from "../../../viz/Bars";
import { defaultMetric, metricChoices } from "./metricChoice";
import type { VizProps } from "./types";

export function Importance({ experiment, found }: VizProps) {
  const choices = useMemo(
    () => metricChoices(found.trials).filter((key) => key.startsWith("validation.")),
    [found.trials],
  );
  const fallback = defaultMetric(experiment, choices);
  const [metricKey, setMetric] = useUrlState("metric", text, fallback);
  const answer = useApi("getHpImportance", {
    path: { experiment_id: experiment.id },
    query: metricKey === fallback ? {} : { metric: metricOf(metricKey).name },
  });
  if (answer.error) return <ErrorCard error={answer.error} onRetry={() => void answer.refetch()} />;
  if (answer.data === undefined) return <Skeleton rows={6} />;
  const { importances, trialsUsed, trialsCompleted, message } = answer.data;
  return (
    <div className={css["stack"]}>
      <div className={css["controls"]}>
        <Select
          label="Metric"
          value={metricKey}
          options={choices.map((id) => ({ id, label: id }))}
          onChange={setMetric}
        />
      </div>
      {importances.length === 0 ? (
        <Empty title="Importance cannot be told yet">{message}</Empty>
      ) : (
        <Bars
          title={`What mattered for ${answer.data.metric}`}
          items={importances.map((one) => ({ label: one.name, value: one.importance }))}
          words={`From ${trialsUsed} of ${trialsCompleted} completed trials; the values sum to 1.`}
        />
      )}
    </div>
  );
}
