// Asks for the series of all charts that need some at the same moment in one request.

import { call } from "../api/client";
import type { WireTrialSeries } from "./series";

export interface SeriesAsk {
  trialIds: number[];
  metricIds: string[];
  xAxis: "batch" | "epoch" | "time";
  maxDatapoints: number;
  start?: number;
  end?: number;
  /** `<trial>/<group>/<token>` of what is held. */
  since: string[];
}

type Send = (ask: SeriesAsk) => Promise<readonly WireTrialSeries[]>;

interface Member {
  ask: SeriesAsk;
  resolve: (trials: readonly WireTrialSeries[]) => void;
  reject: (error: unknown) => void;
  isLeft: boolean;
}

const GATHER_MS = 8;
/** Of trials times metrics: one slow answer must not hold up all charts. */
const MOST_SERIES = 64;

export class SeriesLoader {
  #send: Send;
  #waiting: Member[][] = [];
  #isScheduled = false;

  constructor(send: Send) {
    this.#send = send;
  }

  load(ask: SeriesAsk, signal: AbortSignal): Promise<readonly WireTrialSeries[]> {
    return new Promise((resolve, reject) => {
      const member: Member = { ask, resolve, reject, isLeft: false };
      const batch = this.#waiting.find((one) => fits(one, ask));
      if (batch) batch.push(member);
      else this.#waiting.push([member]);
      signal.addEventListener("abort", () => {
        member.isLeft = true;
        reject(signal.reason);
      });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setTimeout(() => {
      this.#isScheduled = false;
      const batches = this.#waiting;
      this.#waiting = [];
      for (const batch of batches) void this.#ask(batch.filter((member) => !member.isLeft));
    }, GATHER_MS);
  }

  async #ask(batch: Member[]): Promise<void> {
    const first = batch[0];
    if (first === undefined) return;
    const metricIds = [...new Set(batch.flatMap((member) => member.ask.metricIds))];
    const since = [...new Set(batch.flatMap((member) => member.ask.since))];
    try {
      const trials = await this.#send({ ...first.ask, metricIds, since });
      for (const member of batch) member.resolve(trials.map((trial) => ownPart(trial, member.ask)));
    } catch (error) {
      for (const member of batch) member.reject(error);
    }
  }
}

export const seriesLoader = new SeriesLoader(async (ask) => {
  const answer = await call("compareTrials", { query: { ...ask, sampling: "bucket" } });
  return (answer as unknown as { trials: readonly WireTrialSeries[] }).trials;
});

/** The same trials over the same range, and no group of which the one holds something else than the other. */
function fits(batch: readonly Member[], ask: SeriesAsk): boolean {
  const first = batch[0]?.ask;
  if (first === undefined || rangeOf(first) !== rangeOf(ask)) return false;
  const metrics = new Set([...batch.flatMap((member) => member.ask.metricIds), ...ask.metricIds]);
  if (metrics.size * ask.trialIds.length > MOST_SERIES) return false;
  return batch.every((member) => agree(member.ask, ask));
}

function rangeOf({ trialIds, xAxis, maxDatapoints, start, end }: SeriesAsk): string {
  return JSON.stringify([trialIds, xAxis, maxDatapoints, start, end]);
}

function agree(a: SeriesAsk, b: SeriesAsk): boolean {
  const shared = new Set(groupsOf(a).filter((group) => groupsOf(b).includes(group)));
  const held = (ask: SeriesAsk) => ask.since.filter((text) => shared.has(groupOf(text))).sort();
  return held(a).join() === held(b).join();
}

function groupsOf({ metricIds }: SeriesAsk): string[] {
  return metricIds.map((id) => id.slice(0, id.indexOf(".")));
}

function groupOf(since: string): string {
  return since.slice(since.indexOf("/") + 1, since.lastIndexOf("/"));
}

function ownPart(trial: WireTrialSeries, ask: SeriesAsk): WireTrialSeries {
  const groups = new Set(groupsOf(ask));
  return {
    trialId: trial.trialId,
    metrics: trial.metrics.filter(({ group, name }) => ask.metricIds.includes(`${group}.${name}`)),
    positions: trial.positions.filter(({ group }) => groups.has(group)),
  };
}
