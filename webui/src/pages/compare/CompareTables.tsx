// Tables with a column per trial: hyperparameters, those that differ first, and exact metrics against the baseline.
import { type ReactNode, useMemo, useState } from "react";
import { colourOf } from "../../chart/colour";
import { Button } from "../../ui/Button";
import { cx } from "../../ui/cx";
import { Empty } from "../../ui/Empty";
import { deltaText, plural } from "../../ui/format";
import layout from "../../ui/layout.module.css";
import { Select } from "../../ui/Select";
import { Switch } from "../../ui/Switch";
import { flag, Link, oneOf, useUrlState } from "../../url";
import type { ComparedTrial } from "./ComparePage";
import css from "./compare.module.css";
import { type DifferenceRow, differenceRows, type MetricRow, metricRows, type Statistic } from "./differences";

interface TableProps {
  trials: readonly ComparedTrial[];
  base: number;
}

const COLUMNS = 12;
const STATISTIC = oneOf("last", "min", "max");

export function HyperparameterTable({ trials, base }: TableProps) {
  const [isDiff, setDiff] = useUrlState("diff", flag, false);
  const rows = useMemo(() => differenceRows(trials.map((one) => one.hyperparameters ?? {})), [trials]);
  const differing = rows.filter((row) => row.differs);
  const shown = isDiff ? differing : rows;
  return (
    <>
      <div className={css["bar"]}>
        <p>
          {differing.length} of {plural(rows.length, "hyperparameter")} {differing.length === 1 ? "differs" : "differ"}.
        </p>
        <Switch isSelected={isDiff} onChange={setDiff}>
          Only differences
        </Switch>
      </div>
      {shown.length === 0 && <Empty title="No hyperparameter differs" />}
      {shown.length > 0 && (
        <SideBySide
          caption="Hyperparameters"
          trials={trials}
          base={base}
          rows={shown.map((row) => ({
            key: row.name,
            head: <HparamName row={row} />,
            isMarked: row.differs,
            cellAt: (at) => valueText(row.values[at]),
          }))}
        />
      )}
    </>
  );
}

function HparamName({ row }: { row: DifferenceRow }) {
  return (
    <>
      {row.name} {row.differs && <span className={css["differs"]}>differs</span>}
    </>
  );
}

export function MetricTable({ trials, base }: TableProps) {
  const [statistic, setStatistic] = useUrlState<Statistic>("stat", STATISTIC, "last");
  const rows = useMemo(
    () =>
      metricRows(
        trials.map((one) => one.summaryMetrics ?? {}),
        statistic,
      ),
    [trials, statistic],
  );
  const baseAt = trials.findIndex((one) => one.id === base);
  const options = [
    { id: "last", label: "Last value" },
    { id: "min", label: "Least" },
    { id: "max", label: "Greatest" },
  ];
  if (rows.length === 0) return <Empty title="These trials reported no metrics" />;
  return (
    <>
      <div className={css["bar"]}>
        <Select
          label="Value"
          value={statistic}
          options={options}
          onChange={(id) => setStatistic(STATISTIC.parse(id) ?? "last")}
        />
      </div>
      <SideBySide
        caption="Metrics, exact"
        trials={trials}
        base={base}
        rows={rows.map((row) => ({
          key: `${row.group} ${row.name}`,
          head: `${row.group}.${row.name}`,
          isMarked: false,
          isNumber: true,
          cellAt: (at) => <MetricCell row={row} at={at} baseAt={baseAt} />,
        }))}
      />
    </>
  );
}

function MetricCell({ row, at, baseAt }: { row: MetricRow; at: number; baseAt: number }) {
  const value = row.values[at] ?? null;
  const base = baseAt < 0 ? null : (row.values[baseAt] ?? null);
  if (value === null) return <span className={layout["muted"]}>none</span>;
  // every digit: a rounded number would look exact
  return (
    <>
      {String(value)}
      {base !== null && at !== baseAt && <span className={css["delta"]}>{deltaText(value, base)}</span>}
    </>
  );
}

interface SideRow {
  key: string;
  head: ReactNode;
  isMarked: boolean;
  isNumber?: boolean;
  cellAt: (trial: number) => ReactNode;
}

interface SideBySideProps extends TableProps {
  caption: string;
  rows: readonly SideRow[];
}

function SideBySide({ caption, trials, base, rows }: SideBySideProps) {
  const [first, setFirst] = useState(0);
  const from = Math.min(first, Math.max(0, trials.length - 1));
  const shown = trials.slice(from, from + COLUMNS);
  return (
    <>
      {trials.length > COLUMNS && (
        <div className={css["bar"]}>
          <Button isDisabled={from === 0} onPress={() => setFirst(Math.max(0, from - COLUMNS))}>
            Previous
          </Button>
          <span role="status">
            Trials {from + 1} to {from + shown.length} of {trials.length}
          </span>
          <Button isDisabled={from + COLUMNS >= trials.length} onPress={() => setFirst(from + COLUMNS)}>
            Next
          </Button>
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a table wider than the screen scrolls by keyboard too */}
      <section className={css["scroll"]} tabIndex={0} aria-label={caption}>
        <table className={cx(layout["table"], css["table"])}>
          <caption className="visually-hidden">{caption}</caption>
          <thead>
            <tr>
              <th scope="col">Name</th>
              {shown.map((trial) => (
                <th key={trial.id} scope="col">
                  <TrialHead trial={trial} isBase={trial.id === base} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.key}>
                <th scope="row">{row.head}</th>
                {shown.map((trial, at) => (
                  <td key={trial.id} className={cx(row.isMarked && css["marked"], row.isNumber && css["number"])}>
                    {row.cellAt(from + at)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

function TrialHead({ trial, isBase }: { trial: ComparedTrial; isBase: boolean }) {
  return (
    <>
      <span className={css["swatch"]} style={{ background: colourOf(trial.id).colour }} aria-hidden="true" />
      <Link href={`/experiments/${trial.experiment?.id ?? 0}/trials/${trial.id}`}>Trial {trial.id}</Link>
      <span className={css["headName"]}>
        {trial.experiment?.name}
        {isBase && " (baseline)"}
      </span>
    </>
  );
}

function valueText(value: unknown): ReactNode {
  if (value === undefined) return <span className={layout["muted"]}>none</span>;
  return typeof value === "string" ? value : JSON.stringify(value);
}
