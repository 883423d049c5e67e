// Above the form of a notebook on a checkpoint: which checkpoint, and what the notebook begins with.
import { useApi } from "../../api/useApi";
import { ErrorCard } from "../../ui/ErrorCard";
import { Link } from "../../url";
import css from "./tasks.module.css";

export function CheckpointNote({ uuid }: { uuid: string }) {
  const answer = useApi("getCheckpoint", { path: { checkpoint_uuid: uuid } });
  if (answer.error) return <ErrorCard error={answer.error} onRetry={() => void answer.refetch()} />;
  const { experimentId, trialId } = answer.data?.checkpoint.training ?? {};
  return (
    <p className={css["note"]}>
      The notebook gets the code and the environment
      {experimentId ? (
        <>
          {" "}
          of <Link href={`/experiments/${experimentId}/code`}>experiment {experimentId}</Link>
        </>
      ) : (
        " of its experiment"
      )}
      . Its first cell downloads and loads checkpoint <code>{uuid.slice(0, 8)}</code>
      {trialId ? (
        <>
          {" "}
          of <Link href={`/trials/${trialId}`}>trial {trialId}</Link>
        </>
      ) : null}
      .
    </p>
  );
}
