// New experiment: from nothing, or from another one (fork, continue, hyperparameter search).
import { useApi } from "../../api/useApi";
import { ErrorCard } from "../../ui/ErrorCard";
import { Page } from "../../ui/Page";
import { Skeleton } from "../../ui/Skeleton";
import { int, oneOf, useUrlState } from "../../url";
import { Composer } from "./Composer";
import type { Mode } from "./start";

const MODES = oneOf("new", "fork", "continue", "hpsearch");
const MOST_TRIALS = 200;

export default function CreatePage() {
  const [from] = useUrlState("from", int, 0);
  const [mode] = useUrlState<Mode>("mode", MODES, from > 0 ? "fork" : "new");
  if (from <= 0) return <Composer mode="new" parent={null} trials={[]} />;
  return <FromParent key={`${from} ${mode}`} id={from} mode={mode === "new" ? "fork" : mode} />;
}

function FromParent({ id, mode }: { id: number; mode: Mode }) {
  const found = useApi("getExperiment", { path: { experiment_id: id } });
  const trials = useApi("listTrials", {
    path: { experiment_id: id },
    query: { limit: MOST_TRIALS },
  });
  const error = found.error ?? trials.error;
  if (error) {
    return (
      <Page title="New experiment">
        <ErrorCard error={error} onRetry={() => Promise.all([found.refetch(), trials.refetch()])} />
      </Page>
    );
  }
  if (!found.data || !trials.data) {
    return (
      <Page title="New experiment">
        <Skeleton rows={8} />
      </Page>
    );
  }
  return <Composer mode={mode} parent={found.data.experiment} trials={trials.data.trials} />;
}
