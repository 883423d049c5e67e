// The logs of a search, one trial at a time: the best by default, because there is one log per trial.

import css from "../../detail/detail.module.css";
import type { Experiment } from "../../detail/types";
import { LogView } from "../../log/LogView";
import { ComboBox } from "../../ui/ComboBox";
import { Empty } from "../../ui/Empty";
import { int, useUrlState } from "../../url";

export function LogsTab({ experiment }: { experiment: Experiment }) {
  const ids = experiment.trialIds ?? [];
  const [trialId, setTrialId] = useUrlState("trial", int, experiment.bestTrialId ?? ids[0] ?? 0);
  if (trialId === 0) return <Empty title="No trial yet">The searcher has created none.</Empty>;
  return (
    <div className={css["stack"]}>
      <div className={css["controls"]}>
        <ComboBox
          label="Trial"
          value={String(trialId)}
          options={ids.map((id) => ({ id: String(id), label: `Trial ${id}` }))}
          onChange={(id) => setTrialId(Number(id))}
        />
      </div>
      <LogView key={trialId} source={{ kind: "trial", trialId }} emptyText="This trial has not written anything yet." />
    </div>
  );
}
