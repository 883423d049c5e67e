// Why an experiment waits, in the scheduler's own words, and when it may start.

import { useApi } from "../api/useApi";
import { ago, straight } from "../ui/format";
import { Link } from "../url";
import css from "./detail.module.css";
import type { Experiment } from "./types";

export function QueueReason({ experiment }: { experiment: Experiment }) {
  const isQueued = experiment.state === "STATE_QUEUED";
  const pool = experiment.resourcePool ?? "";
  const jobs = useApi(
    "listJobsV2",
    { query: { resourcePool: pool, limit: 1000 } },
    { enabled: isQueued && pool !== "", refetchInterval: 10_000 },
  );
  if (!isQueued) return null;
  const job = jobs.data?.jobs.map((one) => one.full).find((one) => one?.jobId === experiment.jobId);
  return (
    <p className={css["queue"]}>
      <strong>Queued: </strong>
      {straight(job?.reason ?? "waits for free slots")}
      {job?.eta ? `; may start ${ago(job.eta)}` : ""} <span aria-hidden="true">·</span>{" "}
      <Link href={`/resourcepool/${pool}/queued`}>See the queue of {pool}</Link>
    </p>
  );
}
