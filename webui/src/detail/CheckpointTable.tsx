// Checkpoints of an experiment or a trial: where from, how good, how big; registered, opened, deleted after a question.

import { useState } from "react";
import { call } from "../api/client";
import { useAct, useApi } from "../api/useApi";
import { RegisterDialog } from "../registry/RegisterDialog";
import { whyNotRegistered } from "../registry/registrable";
import { Button } from "../ui/Button";
import { DataTable } from "../ui/DataTable";
import { Empty } from "../ui/Empty";
import { ErrorCard } from "../ui/ErrorCard";
import { bytes, dateTime, metricNumber } from "../ui/format";
import { Select } from "../ui/Select";
import { Skeleton } from "../ui/Skeleton";
import { StatePill } from "../ui/StatePill";
import { Switch } from "../ui/Switch";
import { useConfirm } from "../ui/useConfirm";
import { flag, int, Link, navigate, oneOf, text, useUrlState } from "../url";
import { CheckpointDialog } from "./CheckpointDialog";
import { sizeOf } from "./CheckpointFiles";
import css from "./detail.module.css";
import type { Checkpoint } from "./types";
import { Pager } from "./WorkloadTable";

export type CheckpointOwner = { experimentId: number } | { trialId: number };

const PAGE = 50;
const SORTS = [
  { id: "SORT_BY_SEARCHER_METRIC", label: "Best first" },
  { id: "SORT_BY_END_TIME", label: "Newest first" },
  { id: "SORT_BY_BATCH_NUMBER", label: "Most batches first" },
] as const;
const KEPT = ["STATE_ACTIVE", "STATE_COMPLETED", "STATE_ERROR", "STATE_PARTIALLY_DELETED"] as const;
const SORT = oneOf(...SORTS.map((sort) => sort.id));
const OPERATIONS = ["listExperimentCheckpoints", "listTrialCheckpoints"] as const;

interface CheckpointTableProps {
  owner: CheckpointOwner;
  smallerIsBetter: boolean;
  /** The training has ended. */
  isOver: boolean;
  /** Where a model that is made for one of them goes. */
  workspaceId?: number | undefined;
}

export function CheckpointTable({ owner, smallerIsBetter, isOver, workspaceId }: CheckpointTableProps) {
  const [offset, setOffset] = useUrlState("offset", int, 0);
  const [sort, setSort] = useUrlState("order", SORT, "SORT_BY_END_TIME");
  const [showsDeleted, setShowsDeleted] = useUrlState("deleted", flag, false);
  const [open, setOpen] = useUrlState("checkpoint", text, "");
  const [registered, setRegistered] = useState<string | null>(null);
  const answer = useCheckpoints(owner, { sort, smallerIsBetter, offset, showsDeleted });
  if (answer.error) return <ErrorCard error={answer.error} onRetry={() => void answer.refetch()} />;
  if (answer.data === undefined) return <Skeleton rows={6} />;
  const { checkpoints, pagination } = answer.data;
  return (
    <div className={css["stack"]}>
      <div className={css["controls"]}>
        <Select
          label="Order"
          value={sort}
          options={[...SORTS]}
          onChange={(id) => {
            setOffset(0);
            setSort(SORTS.find((one) => one.id === id)?.id ?? "SORT_BY_END_TIME");
          }}
        />
        <Switch
          isSelected={showsDeleted}
          onChange={(shows) => {
            setOffset(0);
            setShowsDeleted(shows);
          }}
        >
          Show deleted ones
        </Switch>
      </div>
      {checkpoints.length === 0 ? (
        <Empty title="No checkpoints">
          {isOver ? "None was stored, or all were deleted." : "They appear here when the training code stores them."}
        </Empty>
      ) : (
        <Rows checkpoints={checkpoints} onOpen={setOpen} onRegister={setRegistered} />
      )}
      <Pager offset={offset} total={pagination.total ?? checkpoints.length} page={PAGE} onMove={setOffset} />
      {open !== "" && registered === null && (
        <CheckpointDialog uuid={open} onRegister={setRegistered} onClose={() => setOpen("")} />
      )}
      {registered !== null && (
        <RegisterDialog uuid={registered} workspaceId={workspaceId} onClose={() => setRegistered(null)} />
      )}
    </div>
  );
}

interface RowsProps {
  checkpoints: readonly Checkpoint[];
  onOpen: (uuid: string) => void;
  onRegister: (uuid: string) => void;
}

function Rows({ checkpoints, onOpen, onRegister }: RowsProps) {
  const remove = useRemoval();
  return (
    <DataTable
      caption="Checkpoints"
      hidesCaption
      rows={checkpoints}
      rowKey={(row) => row.uuid}
      columns={[
        { key: "uuid", label: "Checkpoint", render: (row) => <Name checkpoint={row} onOpen={onOpen} /> },
        { key: "state", label: "State", render: (row) => <StatePill state={row.state} /> },
        { key: "trial", label: "Trial", render: (row) => <TrialLink checkpoint={row} /> },
        { key: "batch", label: "Batches", align: "right", render: batchesOf },
        { key: "metric", label: "Searcher metric", align: "right", render: metricOf },
        { key: "size", label: "Size", align: "right", render: (row) => bytes(sizeOf(row)) },
        { key: "time", label: "Stored", render: (row) => dateTime(row.reportTime) },
        {
          key: "act",
          label: "Actions",
          render: (row) => (
            <span className={css["acts"]}>
              <span title={whyNotRegistered(row.state) ?? undefined}>
                <Button
                  isDisabled={whyNotRegistered(row.state) !== null}
                  onPress={() => onRegister(row.uuid)}
                  aria-label={["Register checkpoint", row.uuid, whyNotRegistered(row.state)].filter(Boolean).join(" ")}
                >
                  Register…
                </Button>
              </span>
              <Button
                isDisabled={!isLoadable(row)}
                onPress={() => navigate(`/tasks/new/notebook?checkpoint=${row.uuid}`)}
                aria-label={`Open a notebook on checkpoint ${row.uuid}`}
              >
                Notebook…
              </Button>
              <Button
                isDisabled={row.state === "STATE_DELETED"}
                onPress={() => void remove(row)}
                aria-label={`Delete checkpoint ${row.uuid}`}
              >
                Delete
              </Button>
            </span>
          ),
        },
      ]}
    />
  );
}

/** Its files are there, and an experiment whose code can be sent along. */
function isLoadable({ state, training }: Checkpoint): boolean {
  return (state === "STATE_COMPLETED" || state === "STATE_PARTIALLY_DELETED") && Boolean(training.experimentId);
}

interface Wanted {
  sort: (typeof SORTS)[number]["id"];
  smallerIsBetter: boolean;
  offset: number;
  showsDeleted: boolean;
}

function useCheckpoints(owner: CheckpointOwner, { sort, smallerIsBetter, offset, showsDeleted }: Wanted) {
  const isUp = sort === "SORT_BY_SEARCHER_METRIC" && smallerIsBetter;
  const orderBy = isUp ? ("ORDER_BY_ASC" as const) : ("ORDER_BY_DESC" as const);
  const query = { limit: PAGE, offset, sortByAttr: sort, orderBy, ...(showsDeleted ? {} : { states: [...KEPT] }) };
  const ofExperiment = "experimentId" in owner;
  const experiment = useApi(
    OPERATIONS[0],
    { path: { experiment_id: ofExperiment ? owner.experimentId : 0 }, query },
    { enabled: ofExperiment, keepPrevious: true },
  );
  const trial = useApi(
    OPERATIONS[1],
    { path: { trial_id: ofExperiment ? 0 : owner.trialId }, query },
    { enabled: !ofExperiment, keepPrevious: true },
  );
  return ofExperiment ? experiment : trial;
}

function useRemoval(): (checkpoint: Checkpoint) => Promise<void> {
  const { confirm } = useConfirm();
  const act = useAct();
  return async (checkpoint) => {
    const isSure = await confirm({
      title: `Delete checkpoint ${checkpoint.uuid}?`,
      text: "Its files are removed from storage. This cannot be undone.",
      verb: "Delete",
      isDanger: true,
    });
    if (!isSure) return;
    await act({
      label: `Deleting checkpoint ${checkpoint.uuid}`,
      run: () => call("deleteCheckpoints", { body: { checkpointUuids: [checkpoint.uuid] } }),
      invalidate: [...OPERATIONS],
    });
  };
}

function Name({ checkpoint, onOpen }: { checkpoint: Checkpoint; onOpen: (uuid: string) => void }) {
  return (
    <Button kind="plain" onPress={() => onOpen(checkpoint.uuid)} aria-label={`Files of checkpoint ${checkpoint.uuid}`}>
      <code>{checkpoint.uuid.slice(0, 8)}</code>
    </Button>
  );
}

function TrialLink({ checkpoint }: { checkpoint: Checkpoint }) {
  const { experimentId, trialId } = checkpoint.training;
  if (!trialId || !experimentId) return "";
  return <Link href={`/experiments/${experimentId}/trials/${trialId}`}>{trialId}</Link>;
}

function batchesOf(checkpoint: Checkpoint): string {
  const steps = checkpoint.metadata["steps_completed"];
  return typeof steps === "number" ? steps.toLocaleString("en") : "";
}

function metricOf(checkpoint: Checkpoint): string {
  const value = checkpoint.training.searcherMetric;
  return value === null || value === undefined ? "" : metricNumber(value);
}
