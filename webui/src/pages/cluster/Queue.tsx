// The job queue: who runs, who waits and why, and changing the order.
import { ChevronDown, ChevronUp, Ellipsis } from "lucide-react";
import { call } from "../../api/client";
import type { Schemas } from "../../api/schema";
import { useAct } from "../../api/useApi";
import { IconButton } from "../../ui/Button";
import { type Column, DataTable } from "../../ui/DataTable";
import { Empty } from "../../ui/Empty";
import { ago, dateTime, plural, straight } from "../../ui/format";
import { Menu, type MenuAction } from "../../ui/Menu";
import { Progress } from "../../ui/Progress";
import { StatePill } from "../../ui/StatePill";
import { Link } from "../../url";
import css from "./cluster.module.css";
import { type Job, otherPools, type Pool, type QueueRow, stepped } from "./queue";

export interface QueueProps {
  rows: readonly QueueRow[];
  pools: readonly Pool[];
  total: number;
}

export function Queue({ rows, pools, total }: QueueProps) {
  if (rows.length === 0) {
    return (
      <Empty title="Nothing runs and nothing waits">A submitted experiment appears here while it needs slots.</Empty>
    );
  }
  const hidden = total - rows.length;
  return (
    <>
      <DataTable
        columns={columnsFor(pools)}
        rows={rows}
        rowKey={({ job }) => job.jobId}
        caption="Jobs in scheduling order"
        hidesCaption
      />
      {hidden > 0 && <p className={css["muted"]}>and {plural(hidden, "job")} more behind these</p>}
    </>
  );
}

function columnsFor(pools: readonly Pool[]): Column<QueueRow>[] {
  return [
    { key: "position", label: "#", align: "right", render: ({ position }) => position ?? "–" },
    { key: "name", label: "Job", render: ({ job }) => <JobName job={job} /> },
    { key: "state", label: "State", render: ({ isQueued }) => <StatePill state={isQueued ? "QUEUED" : "RUNNING"} /> },
    { key: "why", label: "Why it waits", render: (row) => <Why row={row} /> },
    {
      key: "slots",
      label: "Slots",
      align: "right",
      render: ({ job }) => <span className={css["line"]}>{slotsText(job)}</span>,
    },
    { key: "pool", label: "Pool", isMinor: true, render: ({ job }) => job.resourcePool },
    { key: "steps", label: "Priority / weight", render: (row) => <Stepper row={row} /> },
    { key: "user", label: "User", isMinor: true, render: ({ job }) => job.username },
    {
      key: "time",
      label: "Submitted",
      isMinor: true,
      render: ({ job }) => (
        <span className={css["line"]} title={dateTime(job.submissionTime)}>
          {ago(job.submissionTime)}
        </span>
      ),
    },
    {
      key: "actions",
      label: <span className="visually-hidden">Actions</span>,
      render: (row) => <JobMenu row={row} pools={pools} />,
    },
  ];
}

function JobName({ job }: { job: Job }) {
  if (job.type !== "TYPE_EXPERIMENT") return <>{job.name}</>;
  return (
    <>
      <Link href={`/experiments/${job.entityId}`}>{job.name}</Link>{" "}
      <span className={css["muted"]}>#{job.entityId}</span>
      {job.progress ? <Progress value={job.progress} label={`Progress of ${job.name}`} /> : null}
    </>
  );
}

function slotsText(job: Job): string {
  return job.allocatedSlots === job.requestedSlots
    ? `${job.requestedSlots}`
    : `${job.allocatedSlots} of ${job.requestedSlots}`;
}

function Why({ row: { job, isQueued } }: { row: QueueRow }) {
  if (!job.reason && !isQueued) return null;
  return (
    <div className={css["why"]}>
      {straight(job.reason ?? "waits for the scheduler's next round")}
      {job.eta && (
        <div className={css["muted"]} title={dateTime(job.eta)}>
          may start {ago(job.eta)}
        </div>
      )}
    </div>
  );
}

function Stepper({ row }: { row: QueueRow }) {
  const control = useControl(row.job);
  const { steps, job } = row;
  if (steps === null) return <>{job.priority ?? ""}</>;
  const name = steps === "priority" ? "priority" : "weight";
  const now = (steps === "priority" ? job.priority : job.weight) ?? 0;
  const set = (value: number | null) => {
    if (value !== null) control(`Set the ${name} of ${job.name} to ${value}`, { [name]: value }, { [name]: now });
  };
  const down = stepped(row, -1);
  const up = stepped(row, 1);
  return (
    <span className={css["stepper"]}>
      <IconButton
        label={`Lower the ${name} number of ${job.name}`}
        isDisabled={down === null}
        onPress={() => set(down)}
      >
        <ChevronDown size={14} aria-hidden="true" />
      </IconButton>
      <output title={steps === "priority" ? "Priority: lower numbers run first" : "Weight: its share of the pool"}>
        {now}
      </output>
      <IconButton label={`Raise the ${name} number of ${job.name}`} isDisabled={up === null} onPress={() => set(up)}>
        <ChevronUp size={14} aria-hidden="true" />
      </IconButton>
    </span>
  );
}

function JobMenu({ row, pools }: { row: QueueRow; pools: readonly Pool[] }) {
  const control = useControl(row.job);
  const { job, previous, next, first } = row;
  if (row.steps === null) return null;
  const back: Change = previous ? { behindOf: previous.jobId } : next ? { aheadOf: next.jobId } : {};
  const undo = Object.keys(back).length > 0 ? back : undefined;
  const order: MenuAction[] =
    row.steps !== "priority"
      ? []
      : [
          moveItem("top", "Move to the front", first, () =>
            control(`${job.name} is first`, { aheadOf: first?.jobId ?? "" }, undo),
          ),
          moveItem("up", "Move up", previous, () =>
            control(`Moved ${job.name} up`, { aheadOf: previous?.jobId ?? "" }, undo),
          ),
          moveItem("down", "Move down", next, () =>
            control(`Moved ${job.name} down`, { behindOf: next?.jobId ?? "" }, undo),
          ),
        ];
  const moves = otherPools(row, pools).map((pool) => ({
    id: `pool ${pool}`,
    label: `Move to pool ${pool}`,
    onAction: () => control(`Moved ${job.name} to ${pool}`, { resourcePool: pool }, { resourcePool: job.resourcePool }),
  }));
  return (
    <Menu
      label={`Actions of ${job.name}`}
      icon={<Ellipsis size={16} aria-hidden="true" />}
      items={[...order, ...moves]}
    />
  );
}

type Change = Partial<Omit<Schemas["QueueControl"], "jobId">>;

function moveItem(id: string, label: string, anchor: Job | null, onAction: () => void): MenuAction {
  return { id, label, onAction, isDisabled: anchor === null };
}

/** Sends one change of the queue, with its opposite as Undo. */
function useControl(job: Job): (label: string, change: Change, back: Change | undefined) => void {
  const act = useAct();
  const send = (change: Change) => call("updateJobQueue", { body: { updates: [{ jobId: job.jobId, ...change }] } });
  return (label, change, back) =>
    void act({
      label,
      run: () => send(change),
      undo: back && (() => send(back)),
      invalidate: ["listJobsV2", "listPools"],
    });
}
