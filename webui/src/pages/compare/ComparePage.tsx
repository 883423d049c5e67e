// Trials side by side: curves, hyperparameters that differ, exact metrics, configuration, code, environment.
import { useMemo } from "react";
import { useLive } from "../../api/live";
import type { Schemas } from "../../api/schema";
import { useApi } from "../../api/useApi";
import { OverlayCharts } from "../../overlay/OverlayCharts";
import { LINES } from "../../overlay/trials";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { plural } from "../../ui/format";
import { Page } from "../../ui/Page";
import { Select } from "../../ui/Select";
import { Skeleton } from "../../ui/Skeleton";
import { isLive } from "../../ui/state";
import { TabLinks } from "../../ui/TabLinks";
import { usePaced } from "../../ui/usePaced";
import { idRanges, int, Link, oneOf, useSearch, useUrlState, withParam } from "../../url";
import { HyperparameterTable, MetricTable } from "./CompareTables";
import css from "./compare.module.css";
import { PairDiff } from "./PairDiff";

export type ComparedTrial = Schemas["FlatRun"];

const PARTS = ["charts", "hparams", "metrics", "config", "code", "environment"] as const;
const PART = oneOf(...PARTS);
const LABELS: Record<(typeof PARTS)[number], string> = {
  charts: "Charts",
  hparams: "Hyperparameters",
  metrics: "Metrics",
  config: "Configuration",
  code: "Code",
  environment: "Environment",
};
const MOST = 500;
const REFRESH_MS = 1000;
const NO_IDS: number[] = [];

export default function ComparePage() {
  const [ids] = useUrlState("trials", idRanges, NO_IDS);
  const [base, setBase] = useUrlState("base", int, 0);
  const [part] = useUrlState<(typeof PARTS)[number]>("part", PART, "charts");
  const search = useSearch();
  const asked = useMemo(() => ids.slice(0, MOST), [ids]);
  const answer = useApi(
    "searchRuns",
    { body: { filter: anyOf(asked), limit: MOST, sort: "id=asc" } },
    { enabled: asked.length > 0, keepPrevious: true },
  );
  const trials = useMemo(() => answer.data?.runs ?? [], [answer.data]);
  useFollowed(trials, () => void answer.refetch());
  if (ids.length < 2) {
    return (
      <Page title="Compare">
        <Empty title="Pick at least two trials">
          <p>
            Select rows in the <Link href="/projects/1/runs">table of a project</Link> and press Compare, or name trials
            in the address: /compare?trials=1,2,5-9
          </p>
        </Empty>
      </Page>
    );
  }
  const tabs = PARTS.map((id) => ({
    id,
    label: LABELS[id],
    href: `/compare${withParam(search, "part", id === "charts" ? undefined : id)}`,
  }));
  const isCut = ids.length > MOST;
  return (
    <Page title={`Compare ${plural(trials.length || asked.length, "trial")}`}>
      <div className={css["bar"]}>
        <Select
          label="Baseline"
          value={String(base)}
          options={[{ id: "0", label: "none" }, ...trials.map((one) => ({ id: String(one.id), label: nameOf(one) }))]}
          onChange={(id) => setBase(Number(id))}
        />
        {isCut && (
          <p role="status">
            Only the first {MOST} of {ids.length} trials are compared.
          </p>
        )}
        {answer.data && trials.length < asked.length && (
          <p role="status">{plural(asked.length - trials.length, "trial")} of the address cannot be found.</p>
        )}
      </div>
      <TabLinks label="Parts of the comparison" tabs={tabs} current={part} />
      {answer.error && !answer.data && <ErrorCard error={answer.error} onRetry={() => answer.refetch()} />}
      {!answer.data && !answer.error && <Skeleton rows={8} />}
      {trials.length > 0 && <Part part={part} trials={trials} base={base} />}
    </Page>
  );
}

export function nameOf(trial: ComparedTrial): string {
  return `${trial.id} ${trial.experiment?.name ?? ""}`.trim();
}

function Part({ part, trials, base }: { part: (typeof PARTS)[number]; trials: ComparedTrial[]; base: number }) {
  const drawn = useMemo(() => forCharts(trials, base), [trials, base]);
  if (part === "charts") return <OverlayCharts trials={drawn} total={trials.length} baseId={base || null} />;
  if (part === "hparams") return <HyperparameterTable trials={trials} base={base} />;
  if (part === "metrics") return <MetricTable trials={trials} base={base} />;
  return <PairDiff what={part} trials={trials} base={base} />;
}

/** The baseline is drawn whatever else is left out. */
function forCharts(trials: readonly ComparedTrial[], base: number) {
  const baseline = trials.filter((one) => one.id === base);
  const others = trials.filter((one) => one.id !== base);
  return [...baseline, ...others]
    .slice(0, LINES)
    .map((one) => ({ id: one.id, name: one.experiment?.name ?? "", summary: one.summaryMetrics ?? {} }));
}

function useFollowed(trials: readonly ComparedTrial[], refetch: () => void): void {
  const trialIds = trials.filter((one) => isLive(one.state)).map((one) => one.id);
  const refresh = usePaced(refetch, REFRESH_MS);
  useLive({ metrics: { trialIds }, trials: { trialIds } }, (event) => {
    if (event.noun === "trials") refresh();
  });
}

function anyOf(ids: readonly number[]): string {
  const children = ids.map((value) => ({
    kind: "field",
    columnName: "id",
    location: "LOCATION_TYPE_RUN",
    type: "COLUMN_TYPE_NUMBER",
    operator: "=",
    value,
  }));
  return JSON.stringify({ filterGroup: { kind: "group", conjunction: "or", children }, showArchived: true });
}
