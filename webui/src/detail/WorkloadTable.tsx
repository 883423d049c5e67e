// What a trial did, step by step: validations and checkpoints, training reports on demand; a page at a time.

import { useState } from "react";
import type { Schemas } from "../api/schema";
import { useApi } from "../api/useApi";
import { Button } from "../ui/Button";
import { DataTable } from "../ui/DataTable";
import { Empty } from "../ui/Empty";
import { ErrorCard } from "../ui/ErrorCard";
import { bytes, dateTime, metricNumber, straight } from "../ui/format";
import { Select } from "../ui/Select";
import { Skeleton } from "../ui/Skeleton";
import css from "./detail.module.css";

const PAGE = 20;
const FILTERS = [
  { id: "FILTER_OPTION_CHECKPOINT_OR_VALIDATION", label: "Validations and checkpoints" },
  { id: "FILTER_OPTION_VALIDATION", label: "Validations" },
  { id: "FILTER_OPTION_CHECKPOINT", label: "Checkpoints" },
  { id: "FILTER_OPTION_UNSPECIFIED", label: "Everything" },
] as const;

type FilterId = (typeof FILTERS)[number]["id"];

interface Row {
  key: string;
  kind: string;
  batches: number;
  endTime: string;
  values: string;
}

export function WorkloadTable({ trialId, isOver }: { trialId: number; isOver: boolean }) {
  const [filter, setFilter] = useState<FilterId>("FILTER_OPTION_CHECKPOINT_OR_VALIDATION");
  const [offset, setOffset] = useState(0);
  const answer = useApi(
    "listTrialWorkloads",
    { path: { trial_id: trialId }, query: { filter, limit: PAGE, offset, orderBy: "ORDER_BY_DESC" } },
    { keepPrevious: true },
  );
  if (answer.error) return <ErrorCard error={answer.error} onRetry={() => void answer.refetch()} />;
  if (answer.data === undefined) return <Skeleton rows={5} />;
  const rows = answer.data.workloads.flatMap((workload, i) => rowOf(workload, offset + i));
  const total = answer.data.pagination.total ?? rows.length;
  return (
    <div className={css["stack"]}>
      <div className={css["controls"]}>
        <Select
          label="Show"
          value={filter}
          options={[...FILTERS]}
          onChange={(id) => {
            setOffset(0);
            setFilter(FILTERS.find((one) => one.id === id)?.id ?? "FILTER_OPTION_UNSPECIFIED");
          }}
        />
      </div>
      {rows.length === 0 ? (
        <Empty title={isOver ? "Nothing" : "Nothing yet"}>
          {isOver ? "The trial ended without any of these." : "Validations and checkpoints appear here."}
        </Empty>
      ) : (
        <Rows rows={rows} />
      )}
      <Pager offset={offset} total={total} onMove={setOffset} />
    </div>
  );
}

function Rows({ rows }: { rows: Row[] }) {
  return (
    <DataTable
      caption="Workloads of the trial, newest first"
      rows={rows}
      rowKey={(row) => row.key}
      columns={[
        { key: "batches", label: "Batches", align: "right", render: (row) => row.batches.toLocaleString("en") },
        { key: "kind", label: "What" },
        { key: "values", label: "Result" },
        { key: "endTime", label: "When", render: (row) => dateTime(row.endTime) },
      ]}
    />
  );
}

export function Pager({ offset, total, onMove, page = PAGE }: PagerProps) {
  if (total <= page) return null;
  return (
    <div className={css["controls"]}>
      <Button kind="plain" isDisabled={offset === 0} onPress={() => onMove(Math.max(0, offset - page))}>
        Previous
      </Button>
      <span>
        {offset + 1} to {Math.min(total, offset + page)} of {total.toLocaleString("en")}
      </span>
      <Button kind="plain" isDisabled={offset + page >= total} onPress={() => onMove(offset + page)}>
        Next
      </Button>
    </div>
  );
}

interface PagerProps {
  offset: number;
  total: number;
  onMove: (offset: number) => void;
  page?: number;
}

function rowOf(workload: Schemas["WorkloadContainer"], index: number): Row[] {
  const { checkpoint, training, validation } = workload;
  if (checkpoint) {
    const held = checkpoint.state === "STATE_DELETED" ? {} : (checkpoint.resources ?? {});
    const size = Object.values(held).reduce((sum, one) => sum + Number(one), 0);
    const values = `${checkpoint.state.replace("STATE_", "").toLowerCase()}, ${bytes(size)}, ${checkpoint.uuid ?? ""}`;
    return [
      {
        key: `c${index}`,
        kind: "checkpoint",
        batches: checkpoint.totalBatches,
        endTime: checkpoint.endTime ?? "",
        values,
      },
    ];
  }
  const metrics = validation ?? training;
  if (!metrics) return [];
  const kind = validation ? "validation" : "training";
  const values = shown(metrics.metrics.avgMetrics);
  return [{ key: `m${index}`, kind, batches: metrics.totalBatches, endTime: metrics.endTime ?? "", values }];
}

function shown(metrics: Record<string, unknown>): string {
  return Object.entries(metrics)
    .map(
      ([name, value]) => `${straight(name)} ${typeof value === "number" ? metricNumber(value) : JSON.stringify(value)}`,
    )
    .join("   ");
}
