// Why an experiment waits: what its job needs, who is ahead, when it may start.

import { useApi } from "../api/useApi";
import { Link } from "../url";
import css from "./detail.module.css";
import type { Experiment } from "./types";

export function QueueReason({ experiment }: { experiment: Experiment }) {
  const isQueued = experiment.state === "STATE_QUEUED";
  const pool = experiment.resourcePool ?? "";
  const jobs = useApi(
    "GET /api/v1/job-queues-v2",
    { query: { resourcePool: pool, limit: 1000 } },
    { enabled: isQueued && pool !== "", refetchInterval: 10_000 },
  );
  if (!isQueued) return null;
  const job = jobs.data?.jobs.map((one) => one.full).find((one) => one?.jobId === experiment.jobId);
  const ahead = job?.summary?.jobsAhead ?? -1;
  const words = [
    job?.reason ?? "It waits for free slots.",
    ahead > 0 ? `${ahead} ${ahead === 1 ? "job is" : "jobs are"} ahead.` : "",
    job ? `It needs ${job.requestedSlots} ${job.requestedSlots === 1 ? "slot" : "slots"}.` : "",
  ];
  return (
    <p className={css["queue"]}>
      <strong>Queued: </strong>
      {words.filter((word) => word !== "").join(" ")}{" "}
      <Link href={`/resourcepool/${pool}/queued`}>See the queue of {pool}</Link>
    </p>
  );
}
