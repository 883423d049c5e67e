// Metadata that a run's code or its users have attached, as it is stored.

import { useApi } from "../api/useApi";
import { CopyCommand } from "../ui/CopyCommand";
import { Empty } from "../ui/Empty";
import { ErrorCard } from "../ui/ErrorCard";
import { jsonText } from "../ui/format";
import { Skeleton } from "../ui/Skeleton";
import css from "./detail.module.css";

export function MetadataView({ trialId }: { trialId: number }) {
  const answer = useApi("getRunMetadata", { path: { run_id: trialId } });
  if (answer.error) return <ErrorCard error={answer.error} onRetry={() => void answer.refetch()} />;
  if (answer.data === undefined) return <Skeleton rows={4} />;
  const metadata = answer.data.metadata ?? {};
  if (Object.keys(metadata).length === 0) {
    return (
      <Empty title="No metadata">
        <p>Attach some from your code; every key can be a column of the project's table:</p>
        <CopyCommand text={'core_context.train.set_metadata({"dataset": {"version": 3}})'} />
      </Empty>
    );
  }
  return <pre className={css["json"]}>{jsonText(metadata)}</pre>;
}
