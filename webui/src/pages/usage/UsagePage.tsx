// Slot-hours by user, project, pool and label over a range of days or months, with CSV.

import { useMemo } from "react";
import { useApi } from "../../api/useApi";
import { Chart } from "../../chart/Chart";
import type { Series } from "../../chart/types";
import { Button } from "../../ui/Button";
import { Card } from "../../ui/Card";
import { DataTable } from "../../ui/DataTable";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { Page } from "../../ui/Page";
import { Select } from "../../ui/Select";
import { Skeleton } from "../../ui/Skeleton";
import { saveFile } from "../../ui/saveFile";
import { TextField } from "../../ui/TextField";
import { oneOf, text, useUrlState } from "../../url";
import { Bars } from "../../viz/Bars";
import {
  csvOf,
  type Entry,
  GROUPINGS,
  type Grouping,
  lastDays,
  type Period,
  rangeProblem,
  seriesOf,
  sharesOf,
  totalHours,
} from "./usage";
import css from "./usage.module.css";

const PERIODS = oneOf("day", "month");
const BY = oneOf("user", "project", "pool", "label");
const DEFAULT_DAYS = 30;
const MOST_LINES = 5;
const MOST_BARS = 20;

export default function UsagePage() {
  const standard = useMemo(() => lastDays(DEFAULT_DAYS, Date.now()), []);
  const [from, setFrom] = useUrlState("from", text, standard.from);
  const [to, setTo] = useUrlState("to", text, standard.to);
  const [period, setPeriod] = useUrlState<Period>("per", PERIODS, "day");
  const [by, setBy] = useUrlState<Grouping>("by", BY, "user");
  const problem = rangeProblem(from, to);
  const usage = useApi(
    "getAggregatedUse",
    { query: { startDate: from, endDate: to, period: WIRE[period] } },
    { enabled: problem === null, keepPrevious: true, staleTime: 60_000 },
  );
  const entries = usage.data?.resourceEntries ?? [];
  return (
    <Page
      title="Usage"
      crumbs={[{ label: "Cluster", href: "/clusters" }]}
      actions={
        <Button
          isDisabled={entries.length === 0}
          onPress={() =>
            saveFile(new Blob([csvOf(entries, by, period)], { type: "text/csv" }), `usage-by-${by}-${from}-${to}.csv`)
          }
        >
          CSV
        </Button>
      }
    >
      <div className={css["bar"]}>
        <TextField type="date" label="From" value={from} onChange={setFrom} />
        <TextField type="date" label="To (included)" value={to} onChange={setTo} error={problem ?? undefined} />
        <Select label="Per" value={period} options={PER} onChange={(id) => setPeriod(id as Period)} />
        <Select label="By" value={by} options={GROUPINGS} onChange={(id) => setBy(id as Grouping)} />
      </div>
      {usage.error && <ErrorCard error={usage.error} onRetry={usage.refetch} />}
      {usage.isPending && problem === null && <Skeleton rows={8} />}
      {usage.data && <Usage entries={entries} by={by} period={period} />}
    </Page>
  );
}

const WIRE: Record<
  Period,
  "RESOURCE_ALLOCATION_AGGREGATION_PERIOD_DAILY" | "RESOURCE_ALLOCATION_AGGREGATION_PERIOD_MONTHLY"
> = {
  day: "RESOURCE_ALLOCATION_AGGREGATION_PERIOD_DAILY",
  month: "RESOURCE_ALLOCATION_AGGREGATION_PERIOD_MONTHLY",
};
const PER = [
  { id: "day", label: "day" },
  { id: "month", label: "month" },
];

function Usage({ entries, by, period }: { entries: readonly Entry[]; by: Grouping; period: Period }) {
  const shares = useMemo(() => sharesOf(entries, by), [entries, by]);
  const series = useMemo(
    () =>
      linesFor(
        entries,
        by,
        shares.map(({ name }) => name),
      ),
    [entries, by, shares],
  );
  const total = totalHours(entries);
  if (total === 0) return <Empty title="No usage in this range">Choose other days, or run something.</Empty>;
  const label = GROUPINGS.find(({ id }) => id === by)?.label ?? by;
  return (
    <>
      <p>
        <strong>{hoursText(total)} slot-hours</strong> in all. A slot is a GPU, or a CPU share where there is none. Days
        are UTC.
      </p>
      <Chart
        title={`Slot-hours per ${period}`}
        series={series}
        xKind="time"
        xLabel={period}
        yLabel="slot-hours"
        note={shares.length > MOST_LINES ? `The ${MOST_LINES} with the most, and all together.` : undefined}
      />
      {shares.length > 0 && (
        <Bars
          title={`By ${label.toLowerCase()}`}
          valueLabel="slot-hours"
          items={shares.slice(0, MOST_BARS).map(({ name, hours }) => ({ label: name, value: hours }))}
          words={by === "label" ? "An experiment with several labels counts for each of them." : undefined}
        />
      )}
      <Card title={`Slot-hours by ${label.toLowerCase()}`}>
        <DataTable
          caption={`Slot-hours by ${label.toLowerCase()}`}
          hidesCaption
          rows={shares}
          rowKey={({ name }) => name}
          columns={[
            { key: "name", label },
            { key: "hours", label: "Slot-hours", align: "right", render: ({ hours }) => hoursText(hours) },
            {
              key: "share",
              label: "Share",
              align: "right",
              render: ({ hours }) => `${((hours / total) * 100).toFixed(1)} %`,
            },
          ]}
        />
      </Card>
    </>
  );
}

function linesFor(entries: readonly Entry[], by: Grouping, names: readonly string[]): Series[] {
  const all: Series = { id: "all", name: "all together", ...seriesOf(entries, by, null) };
  return [all, ...names.slice(0, MOST_LINES).map((name) => ({ id: name, name, ...seriesOf(entries, by, name) }))];
}

function hoursText(hours: number): string {
  return hours >= 100 ? Math.round(hours).toLocaleString("en") : hours.toFixed(hours >= 1 ? 1 : 3);
}
