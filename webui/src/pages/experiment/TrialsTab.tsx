// The trials of a search: sorted, filtered by state, selected to be compared.

import { useApi } from "../../api/useApi";
import { isSmallerBetter, searcherMetric } from "../../detail/config";
import css from "../../detail/detail.module.css";
import type { Experiment } from "../../detail/types";
import { Pager } from "../../detail/WorkloadTable";
import { Button } from "../../ui/Button";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { Select } from "../../ui/Select";
import { Skeleton } from "../../ui/Skeleton";
import { useShortcut } from "../../ui/useShortcut";
import { idRanges, int, navigate, oneOf, useUrlState } from "../../url";
import { TrialTable } from "./TrialTable";
import { useTrials } from "./useTrials";

const PAGE = 50;
const SORTS = [
  { id: "best", label: "Best metric", by: "SORT_BY_BEST_VALIDATION_METRIC" },
  { id: "id", label: "Id", by: "SORT_BY_ID" },
  { id: "newest", label: "Newest", by: "SORT_BY_START_TIME" },
  { id: "batches", label: "Most batches", by: "SORT_BY_BATCHES_PROCESSED" },
  { id: "longest", label: "Longest", by: "SORT_BY_DURATION" },
  { id: "restarts", label: "Most restarts", by: "SORT_BY_RESTARTS" },
  { id: "state", label: "State", by: "SORT_BY_STATE" },
] as const;
const STATES = ["all", "ACTIVE", "PAUSED", "COMPLETED", "ERROR", "CANCELED"] as const;
const SORT = oneOf(...SORTS.map((sort) => sort.id));
const STATE = oneOf(...STATES);
const NONE: number[] = [];

export function TrialsTab({ experiment }: { experiment: Experiment }) {
  const [offset, setOffset] = useUrlState("offset", int, 0);
  const [sortId, setSort] = useUrlState("sort", SORT, "best");
  const [state, setState] = useUrlState("state", STATE, "all");
  const [chosen, setChosen] = useUrlState("sel", idRanges, NONE);
  const { axes } = useTrials(experiment, PAGE);
  const sort = SORTS.find((one) => one.id === sortId) ?? SORTS[0];
  const isUp = sort.id === "best" ? isSmallerBetter(experiment.config) : sort.id === "id" || sort.id === "state";
  const answer = useApi(
    "listTrials",
    {
      path: { experiment_id: experiment.id },
      query: {
        limit: PAGE,
        offset,
        sortBy: sort.by,
        orderBy: isUp ? "ORDER_BY_ASC" : "ORDER_BY_DESC",
        ...(state === "all" ? {} : { states: [`STATE_${state}` as const] }),
      },
    },
    { keepPrevious: true },
  );
  const compare = (): void => navigate(`/compare?trials=${idRanges.print(chosen)}`);
  useShortcut("c", "Compare the selected trials", compare, chosen.length > 1);
  if (answer.error) return <ErrorCard error={answer.error} onRetry={() => void answer.refetch()} />;
  if (answer.data === undefined) return <Skeleton rows={12} />;
  const { trials, pagination } = answer.data;
  return (
    <div className={css["stack"]}>
      <div className={css["controls"]}>
        <Select
          label="Order"
          value={sortId}
          options={[...SORTS]}
          onChange={(id) => {
            setOffset(0);
            setSort(SORTS.find((one) => one.id === id)?.id ?? "best");
          }}
        />
        <Select
          label="State"
          value={state}
          options={STATES.map((id) => ({ id, label: id === "all" ? "All states" : id.toLowerCase() }))}
          onChange={(id) => {
            setOffset(0);
            setState(STATES.find((one) => one === id) ?? "all");
          }}
        />
        <Button kind="primary" isDisabled={chosen.length < 2} onPress={compare}>
          {chosen.length < 2 ? "Select trials to compare" : `Compare ${chosen.length} trials`}
        </Button>
      </div>
      {trials.length === 0 ? (
        <Empty title="No trials">
          {state === "all" ? "The searcher has created none yet." : `None is ${state.toLowerCase()}.`}
        </Empty>
      ) : (
        <TrialTable
          caption="Trials"
          hidesCaption
          trials={trials}
          axes={axes}
          metricName={searcherMetric(experiment.config) ?? "metric"}
          selection={{ ids: chosen, onChange: setChosen }}
        />
      )}
      <Pager offset={offset} total={pagination.total ?? trials.length} page={PAGE} onMove={setOffset} />
    </div>
  );
}
