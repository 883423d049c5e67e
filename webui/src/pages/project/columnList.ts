// The columns of a table as the address keeps them: `id~80!,state,hp.lr~120` (`~` width, `!` pinned). Pure.

import { type Catalogue, isMetric } from "../../query/catalogue";
import { type Codec, list } from "../../url/codecs";

export interface ShownColumn {
  key: string;
  /** Absent is the usual width of such a column. */
  width?: number | undefined;
  pinned?: boolean | undefined;
}

/** The little chart of the searcher's metric; no column of the master. */
export const TREND = "trend";

const ALWAYS: Record<"run" | "experiment", string> = {
  run: "id!,experimentName!,state,searcherMetricsVal,trend,startTime,duration,user,tags",
  experiment: "id!,name!,state,searcherMetricsVal,progress,numTrials,startTime,duration,user,tags",
};
const MOST_HPARAMS = 4;
const MOST_METRICS = 3;

export const columnsCodec: Codec<ShownColumn[]> = {
  parse: (raw) => unique(list.parse(raw)?.map(parseColumn) ?? []),
  print: (columns) => list.print(columns.map(printColumn)),
};

/** What a table shows to somebody who has chosen nothing: facts, a few hyperparameters, a few metrics. */
export function usualColumns(kind: "run" | "experiment", catalogue: Catalogue): ShownColumn[] {
  const facts = columnsCodec.parse(ALWAYS[kind]) ?? [];
  const hparams = catalogue.columns.filter((one) => one.name.startsWith("hp.")).slice(0, MOST_HPARAMS);
  const metrics = catalogue.columns
    .filter((one) => isMetric(one) && one.location.endsWith("VALIDATIONS"))
    .slice(0, MOST_METRICS);
  return [...facts, ...hparams.map((one) => ({ key: one.name })), ...metrics.map((one) => ({ key: one.name }))];
}

function parseColumn(text: string): ShownColumn {
  const match = /^(.*?)(?:~(\d{1,4}))?(!)?$/s.exec(text);
  const column: ShownColumn = { key: match?.[1] ?? text };
  if (match?.[2] !== undefined) column.width = Number(match[2]);
  if (match?.[3] !== undefined) column.pinned = true;
  return column;
}

function printColumn({ key, width, pinned }: ShownColumn): string {
  return `${key}${width === undefined ? "" : `~${Math.round(width)}`}${pinned ? "!" : ""}`;
}

function unique(columns: ShownColumn[]): ShownColumn[] {
  return columns.filter((one, at) => one.key !== "" && columns.findIndex((other) => other.key === one.key) === at);
}
