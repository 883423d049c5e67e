// Why a task waits, in the scheduler's own words, and when it may start.
import { useApi } from "../api/useApi";
import { ago, straight } from "../ui/format";
import { Link } from "../url";
import type { Task } from "./kinds";

export function QueuedTask({ task }: { task: Task }) {
  const pool = task.resourcePool;
  const isQueued = task.state === "STATE_QUEUED" && !task.endTime;
  const jobs = useApi(
    "listJobsV2",
    { query: { resourcePool: pool, limit: 1000 } },
    { enabled: isQueued, refetchInterval: 10_000 },
  );
  if (!isQueued) return null;
  const job = jobs.data?.jobs.map((one) => one.full).find((one) => one?.jobId === task.jobId);
  return (
    <p>
      <strong>Queued: </strong>
      {straight(job?.reason ?? "waits for free slots")}
      {job?.eta ? `; may start ${ago(job.eta)}` : ""} <span aria-hidden="true">·</span>{" "}
      <Link href={`/resourcepool/${pool}/queued`}>See the queue of {pool}</Link>
    </p>
  );
}
