// What a page may ask to hear of, and what it hears.

export interface StreamSpec {
  experiments?: number[] | "all";
  trials?: { experimentIds?: number[]; trialIds?: number[] };
  jobs?: true;
  agents?: true;
  tasks?: "all";
  checkpoints?: { experimentIds: number[] };
  projects?: "all";
  models?: "all";
  modelversions?: "all";
  metrics?: { trialIds: number[] };
}

export type Noun = keyof StreamSpec;

/** `reset`: it is not known what changed, read everything of this noun again (`id` is then "*"). */
export interface StreamEvent {
  noun: Noun;
  id: string | number;
  seq: number;
  deleted?: boolean;
  reset?: boolean;
  row?: Record<string, unknown>;
  /** Of metrics: which series has new reports, and up to which batch. */
  trialId?: number;
  group?: string;
  lastBatch?: number;
}

/** `polling`: no connection for a while; pages refetch every ten seconds until there is one. */
export type StreamStatus = "live" | "reconnecting" | "polling";

export type OnEvents = (events: StreamEvent[]) => void;
