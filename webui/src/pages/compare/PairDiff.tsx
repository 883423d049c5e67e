// Two trials at a time: configuration, code and environment, line by line.
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { call } from "../../api/client";
import type { Schemas } from "../../api/schema";
import { useApi } from "../../api/useApi";
import { decodeBase64 } from "../../detail/files";
import { toYaml } from "../../detail/yaml";
import { Diff } from "../../ui/Diff";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { Select } from "../../ui/Select";
import { Skeleton } from "../../ui/Skeleton";
import { Switch } from "../../ui/Switch";
import { flag, int, useUrlState } from "../../url";
import { type ComparedTrial, nameOf } from "./ComparePage";
import css from "./compare.module.css";
import { environmentOf, type FileRow, fileRows } from "./differences";

type What = "config" | "code" | "environment";

export function PairDiff({ what, trials, base }: { what: What; trials: readonly ComparedTrial[]; base: number }) {
  const fallbackLeft = trials.find((one) => one.id === base) ?? trials[0];
  const fallbackRight = trials.find((one) => one !== fallbackLeft) ?? trials[0];
  const [leftId, setLeft] = useUrlState("a", int, fallbackLeft?.id ?? 0);
  const [rightId, setRight] = useUrlState("b", int, fallbackRight?.id ?? 0);
  const left = trials.find((one) => one.id === leftId) ?? fallbackLeft;
  const right = trials.find((one) => one.id === rightId) ?? fallbackRight;
  const options = trials.map((one) => ({ id: String(one.id), label: nameOf(one) }));
  if (!left || !right) return null;
  const isSame = left.experiment?.id === right.experiment?.id;
  return (
    <>
      <div className={css["bar"]}>
        <Select label="Before" value={String(left.id)} options={options} onChange={(id) => setLeft(Number(id))} />
        <Select label="After" value={String(right.id)} options={options} onChange={(id) => setRight(Number(id))} />
      </div>
      {isSame ? (
        <Empty title={`Both trials are of experiment ${left.experiment?.id ?? ""}`}>
          <p>They share configuration, code and environment; their hyperparameters differ.</p>
        </Empty>
      ) : (
        <Loaded what={what} left={left} right={right} />
      )}
    </>
  );
}

function Loaded({ what, left, right }: { what: What; left: ComparedTrial; right: ComparedTrial }) {
  const before = useExperiment(left);
  const after = useExperiment(right);
  const error = before.error ?? after.error;
  if (error) return <ErrorCard error={error} onRetry={() => Promise.all([before.refetch(), after.refetch()])} />;
  if (!before.data || !after.data) return <Skeleton rows={10} />;
  const names = { beforeName: `trial ${left.id}`, afterName: `trial ${right.id}` };
  if (what === "code")
    return <CodeDiff before={before.data.experiment.id} after={after.data.experiment.id} {...names} />;
  return <ConfigDiff what={what} before={before.data.experiment} after={after.data.experiment} {...names} />;
}

function useExperiment(trial: ComparedTrial) {
  return useApi("getExperiment", { path: { experiment_id: trial.experiment?.id ?? 0 } }, { staleTime: 60_000 });
}

interface Names {
  beforeName: string;
  afterName: string;
}

function ConfigDiff({
  what,
  before,
  after,
  ...names
}: { what: What; before: Schemas["Experiment"]; after: Schemas["Experiment"] } & Names) {
  const [isSubmitted, setSubmitted] = useUrlState("submitted", flag, false);
  if (what === "environment")
    return (
      <Diff before={toYaml(environmentOf(before.config))} after={toYaml(environmentOf(after.config))} {...names} />
    );
  const textOf = (one: Schemas["Experiment"]) => (isSubmitted ? one.originalConfig : toYaml(one.config));
  return (
    <>
      <Switch isSelected={isSubmitted} onChange={setSubmitted}>
        As submitted
      </Switch>
      <Diff before={textOf(before)} after={textOf(after)} {...names} />
    </>
  );
}

function CodeDiff({ before, after, ...names }: { before: number; after: number } & Names) {
  const left = useCode(before);
  const right = useCode(after);
  const rows = useMemo(
    () => (left.data && right.data ? fileRows(left.data, right.data) : null),
    [left.data, right.data],
  );
  const error = left.error ?? right.error;
  if (error) return <ErrorCard error={error} onRetry={() => Promise.all([left.refetch(), right.refetch()])} />;
  if (rows === null) return <Skeleton rows={10} />;
  const changed = rows.filter((row) => row.change !== "same");
  return (
    <>
      <p>
        {changed.length} of {rows.length} files differ.
      </p>
      {changed.map((row) => (
        <FileDiff key={row.path} row={row} {...names} />
      ))}
    </>
  );
}

function FileDiff({ row, beforeName, afterName }: { row: FileRow } & Names) {
  const isText = (row.before !== null || row.change === "added") && (row.after !== null || row.change === "removed");
  return (
    <details open className={css["file"]}>
      <summary>
        <code>{row.path}</code> <span className={css["differs"]}>{row.change}</span>
      </summary>
      {isText ? (
        <Diff before={row.before ?? ""} after={row.after ?? ""} beforeName={beforeName} afterName={afterName} />
      ) : (
        <p>Not text, or too large to be shown: the files differ.</p>
      )}
    </details>
  );
}

const MOST_BYTES = 1_000_000;

/** Texts by path of an experiment's code, which never changes. */
function useCode(experimentId: number) {
  return useQuery<ReadonlyMap<string, string | null>>({
    queryKey: ["code of experiment", experimentId],
    queryFn: ({ signal }) => readCode(experimentId, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

async function readCode(experimentId: number, signal: AbortSignal): Promise<ReadonlyMap<string, string | null>> {
  const path = { experiment_id: experimentId };
  const tree = await call("getModelDefinitionTree", { path }, signal);
  const found = new Map<string, string | null>();
  for (const file of filesIn(tree.files ?? [])) {
    const name = file.path ?? "";
    if ((file.contentLength ?? 0) > MOST_BYTES) {
      found.set(name, null);
      continue;
    }
    const answer = await call("getModelDefinitionFile", { path, body: { path: name } }, signal);
    found.set(name, decodeBase64(answer.file ?? ""));
  }
  return found;
}

function filesIn(nodes: readonly Schemas["FileNode"][]): Schemas["FileNode"][] {
  return nodes.flatMap((node) => (node.isDir ? filesIn(node.files ?? []) : [node]));
}
