// One verb on everything that is chosen, of trials or of experiments, and how to take it back.
import { actOnRuns, moveRuns, outcomeOf, outcomeText, type RunOutcome, type RunTarget } from "../../actions/runs";
import { call } from "../../api/client";
import type { Selection } from "../../grid/selection";
import { allOf, type FieldNode, type Filter, filterText } from "../../query/filter";
import type { Kind } from "./rowValues";
import { readAllIds } from "./source";

export type BulkVerb = "activate" | "pause" | "kill" | "archive" | "unarchive" | "delete";

export interface Chosen {
  kind: Kind;
  projectId: number;
  selection: Selection;
  /** What the table shows. */
  filter: Filter;
  count: number;
}

const OPPOSITE: Partial<Record<BulkVerb, BulkVerb>> = {
  activate: "pause",
  pause: "activate",
  archive: "unarchive",
  unarchive: "archive",
};

const DONE: Record<BulkVerb, string> = {
  activate: "Activated",
  pause: "Paused",
  kill: "Killed",
  archive: "Archived",
  unarchive: "Unarchived",
  delete: "Deleting",
};

export interface BulkResult {
  text: string;
  undo: (() => Promise<unknown>) | undefined;
  /** Some were refused. */
  isPartial: boolean;
}

export async function actOnChosen(verb: BulkVerb, chosen: Chosen): Promise<BulkResult> {
  const outcome = await act(verb, chosen.kind, chosen.projectId, await targetOf(chosen));
  const opposite = OPPOSITE[verb];
  const canUndo = opposite !== undefined && outcome.changed.length > 0;
  return {
    text: outcomeText(DONE[verb], outcome, nounOf(chosen.kind)),
    isPartial: outcome.failed.length > 0,
    undo: canUndo ? () => act(opposite, chosen.kind, chosen.projectId, { runIds: outcome.changed }) : undefined,
  };
}

export async function moveChosen(chosen: Chosen, to: number, name: string): Promise<BulkResult> {
  const { kind, projectId } = chosen;
  const outcome = await move(kind, await targetOf(chosen), projectId, to);
  const back = () => Promise.all([...outcome.movedFrom].map(([from, runIds]) => move(kind, { runIds }, to, from)));
  return {
    text: `${outcomeText("Moved", outcome, nounOf(kind))} to ${name}`,
    isPartial: outcome.failed.length > 0,
    undo: outcome.movedFrom.size > 0 ? back : undefined,
  };
}

/** The ids of what is chosen, for verbs of the API that take no filter. */
export async function idsOfChosen(chosen: Chosen): Promise<number[]> {
  const target = await targetOf(chosen);
  if ("runIds" in target) return target.runIds;
  return await readAllIds({ kind: chosen.kind, projectId: chosen.projectId, filter: target.filter, sort: "id=asc" });
}

export function nounOf(kind: Kind): string {
  return kind === "run" ? "trial" : "experiment";
}

/** The ids, or the filter without those that were unticked. Experiments have no verbs by filter: their ids are read. */
async function targetOf({ kind, projectId, selection, filter }: Chosen): Promise<RunTarget> {
  if (selection.mode === "only") return { runIds: [...selection.ids] };
  const text = filterText({ ...filter, filterGroup: allOf(filter.filterGroup, [...selection.ids].map(isNot)) });
  if (kind === "run") return { filter: text, projectId };
  return { runIds: await readAllIds({ kind, projectId, filter: text, sort: "id=asc" }) };
}

function isNot(id: number): FieldNode {
  return {
    kind: "field",
    columnName: "id",
    location: "LOCATION_TYPE_RUN",
    type: "COLUMN_TYPE_NUMBER",
    operator: "!=",
    value: id,
  };
}

async function act(verb: BulkVerb, kind: Kind, projectId: number, target: RunTarget): Promise<RunOutcome> {
  if (kind === "run") return await actOnRuns(verb === "activate" ? "resume" : verb, target);
  const body = { experimentIds: idsOf(target), projectId };
  const path = { project_id: projectId };
  const answer =
    verb === "delete"
      ? await call("deleteExperiments", { path, body })
      : await call(`${verb}Experiments`, { path, body });
  return outcomeOf(answer.results);
}

async function move(kind: Kind, target: RunTarget, from: number, to: number): Promise<RunOutcome> {
  if (kind === "run") return await moveRuns(target, from, to);
  const body = { experimentIds: idsOf(target), projectId: from, destinationProjectId: to };
  const answer = await call("moveExperiments", {
    path: { project_id: from },
    body,
  });
  return outcomeOf(answer.results);
}

function idsOf(target: RunTarget): number[] {
  return "runIds" in target ? target.runIds : [];
}
