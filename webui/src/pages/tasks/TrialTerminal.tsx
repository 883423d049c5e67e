// A terminal beside a running trial: in its environment and working directory, on its node.
import { useEffect, useState } from "react";
import { call } from "../../api/client";
import { TerminalView } from "../../terminal/TerminalView";
import { ErrorCard } from "../../ui/ErrorCard";
import { Skeleton } from "../../ui/Skeleton";

export function TrialTerminal({ taskId, trialId }: { taskId: string; trialId: number }) {
  const [shell, setShell] = useState<{ id: string } | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    setError(null);
    call("openTrialShell", { path: { trial_id: trialId } }).then((answer) => setShell(answer.shell), setError);
  }, [trialId]);
  if (error) return <ErrorCard error={error} />;
  if (!shell) return <Skeleton rows={6} />;
  return <TerminalView key={taskId} taskId={shell.id} name={`trial ${trialId}`} />;
}
