// /trials/97 has no experiment in it: asks the master whose it is and goes to the trial's own address.
import { useEffect } from "react";
import { useApi } from "../api/useApi";
import { ErrorCard } from "../ui/ErrorCard";
import { Page } from "../ui/Page";
import { Skeleton } from "../ui/Skeleton";
import { navigate } from "../url";

export function TrialRedirect({ trialId, tab }: { trialId: string; tab?: string }) {
  const trial = useApi("getTrial", { path: { trial_id: Number(trialId) } });
  const experimentId = trial.data?.trial.experimentId;
  useEffect(() => {
    if (experimentId === undefined) return;
    const path = `/experiments/${experimentId}/trials/${trialId}${tab ? `/${tab}` : ""}`;
    navigate(path + window.location.search + window.location.hash, { replace: true });
  }, [experimentId, trialId, tab]);
  return (
    <Page title={`Trial ${trialId}`}>
      {trial.error ? <ErrorCard error={trial.error} onRetry={trial.refetch} /> : <Skeleton rows={6} />}
    </Page>
  );
}
