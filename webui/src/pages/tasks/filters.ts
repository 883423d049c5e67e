// The filters of the list, as the address has them and as the master takes them. Pure.
import type { Operations } from "../../api/schema";
import { KINDS, type TaskKind, typeOf } from "../../task/kinds";

export type SearchQuery = NonNullable<Operations["searchTasks"]["query"]>;
type State = NonNullable<SearchQuery["states"]>[number];

export const STATES = ["any", "live", "queued", "starting", "running", "ended"] as const;
export type StateFilter = (typeof STATES)[number];

export const STATE_WORDS: Record<StateFilter, string> = {
  any: "any state",
  live: "not ended",
  queued: "queued",
  starting: "starting",
  running: "running",
  ended: "ended",
};

const QUEUED: State[] = ["STATE_QUEUED"];
const STARTING: State[] = ["STATE_PULLING", "STATE_STARTING"];
const RUNNING: State[] = ["STATE_RUNNING", "STATE_WAITING", "STATE_TERMINATING"];
const IN: Record<StateFilter, State[]> = {
  any: [],
  live: [...QUEUED, ...STARTING, ...RUNNING],
  queued: QUEUED,
  starting: STARTING,
  running: RUNNING,
  ended: ["STATE_TERMINATED"],
};

export interface Filters {
  text: string;
  /** Empty: every kind. */
  kind: TaskKind | "";
  state: StateFilter;
  /** 0: every workspace. */
  workspaceId: number;
  isOfAll: boolean;
  /** 0: every user; only where `isOfAll`. */
  userId: number;
}

export const PAGE = 50;

export function queryOf(filters: Filters, ownId: number, offset: number): SearchQuery {
  const { text, kind, state, workspaceId, isOfAll, userId } = filters;
  const users = isOfAll ? (userId > 0 ? [userId] : []) : [ownId];
  return {
    limit: PAGE,
    offset,
    ...(text.trim() === "" ? {} : { text: text.trim() }),
    ...(kind === "" ? {} : { taskTypes: [typeOf(kind)] }),
    ...(state === "any" ? {} : { states: IN[state] }),
    ...(workspaceId > 0 ? { workspaceId } : {}),
    ...(users.length === 0 ? {} : { userIds: users }),
  };
}

export function isNarrowed({ text, kind, state, workspaceId, isOfAll, userId }: Filters): boolean {
  return text.trim() !== "" || kind !== "" || state !== "any" || workspaceId > 0 || (isOfAll && userId > 0);
}

export function kindInAddress(word: string): TaskKind | "" {
  return KINDS.find((kind) => kind === word) ?? "";
}
