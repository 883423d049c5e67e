// One WebSocket kept alive: subscribes, remembers how far it has heard, comes back with jittered back-off and `since`.
import { type Message, parseFrame, resetOf } from "./frames";
import type { OnEvents, StreamEvent, StreamStatus } from "./types";
import { signature, subscribeMessage, type Wanted } from "./wanted";

export interface SocketLike {
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: (() => void) | null;
  send(text: string): void;
  close(): void;
}

/** What differs between a browser and a test. `later` answers a function that calls it off. */
export interface Surroundings {
  open(): SocketLike;
  later(ms: number, run: () => void): () => void;
  random(): number;
}

export const SILENCE_MS = 45_000; // the master speaks every 15 s; a connection as silent as this is dead
export const IDLE_MS = 10_000;
const FIRST_DELAY_MS = 500;
/** Short while the master may be restarting; long where something in between lets no WebSocket through. */
const LONGEST_DELAY_MS = 1_500;
const LONGEST_DELAY_LATER_MS = 30_000;
const SHORT_TRIES = 20;
const FAILURES_UNTIL_POLLING = 3;

export class Connection {
  #around: Surroundings;
  #onEvents: OnEvents;
  #onStatus: (status: StreamStatus) => void;
  #wanted: Wanted = new Map();
  #socket: SocketLike | null = null;
  #isOpen = false;
  #sent = ""; // signature of the subscription sent on this connection
  #syncs = 0;
  #started = false; // the master has begun to answer the newest subscription
  #position: number | null = null;
  #epoch = "";
  #failures = 0;
  #stopWaiting: (() => void) | null = null;
  #stopWatching: (() => void) | null = null;
  #stopIdling: (() => void) | null = null;

  constructor(around: Surroundings, onEvents: OnEvents, onStatus: (status: StreamStatus) => void) {
    this.#around = around;
    this.#onEvents = onEvents;
    this.#onStatus = onStatus;
  }

  /** The whole subscription; it replaces the one before. With nothing wanted the connection is closed after a while. */
  want(wanted: Wanted): void {
    this.#wanted = wanted;
    this.#stopIdling?.();
    this.#stopIdling = null;
    if (wanted.size === 0) {
      this.#stopIdling = this.#around.later(IDLE_MS, () => this.#rest());
      return;
    }
    if (this.#isOpen) this.#subscribe();
    else if (!this.#socket && !this.#stopWaiting) this.#connect();
  }

  /** Try now instead of later: somebody has seen that the master answers. */
  retry(): void {
    if (!this.#stopWaiting) return;
    this.#stopWaiting();
    this.#failures = Math.min(this.#failures, 1);
    this.#connect();
  }

  /** Closes now and stays closed until something is wanted. */
  close(): void {
    this.#stopIdling?.();
    this.#stopIdling = null;
    this.#position = null;
    this.#failures = 0;
    this.#rest();
  }

  #connect(): void {
    this.#stopWaiting = null;
    const socket = this.#around.open();
    this.#socket = socket;
    socket.onopen = () => {
      this.#isOpen = true;
      this.#sent = "";
      if (this.#wanted.size > 0) this.#subscribe();
    };
    socket.onmessage = (event) => this.#hear(String(event.data));
    socket.onclose = () => this.#lost(socket);
    this.#watch();
  }

  #subscribe(): void {
    const text = signature(this.#wanted);
    if (text === this.#sent) return;
    this.#sent = text;
    this.#syncs += 1;
    this.#started = false;
    this.#socket?.send(subscribeMessage(this.#wanted, String(this.#syncs), this.#position, this.#epoch));
  }

  #hear(text: string): void {
    this.#watch();
    const events: StreamEvent[] = [];
    let reached = this.#position;
    for (const message of parseFrame(text)) {
      if (message.kind === "sync") reached = this.#sync(message, events, reached);
      // what still belongs to an earlier subscription will be said again: `since` was sent before it came
      else if (!this.#started) continue;
      else if (message.kind === "alive") reached = Math.max(reached ?? 0, message.seq);
      else reached = take(message.events, events, reached);
    }
    this.#position = reached;
    if (events.length > 0) this.#onEvents(events);
  }

  #sync(message: Message & { kind: "sync" }, events: StreamEvent[], reached: number | null): number | null {
    if (message.syncId !== String(this.#syncs)) return reached;
    this.#started = true;
    if (!message.complete) return reached;
    // the first time nobody knows what happened between a page's reading and now
    if (this.#position === null)
      events.push(...[...this.#wanted.keys()].map((noun) => resetOf(noun, message.seq ?? 0)));
    this.#failures = 0;
    this.#epoch = message.epoch ?? "";
    this.#onStatus("live");
    return message.seq ?? reached; // also when it is lower: the numbers of another database count
  }

  #lost(socket: SocketLike): void {
    if (socket !== this.#socket) return;
    this.#forget();
    if (this.#wanted.size === 0) return;
    this.#failures += 1;
    this.#onStatus(this.#failures >= FAILURES_UNTIL_POLLING ? "polling" : "reconnecting");
    this.#stopWaiting = this.#around.later(backOff(this.#failures, this.#around.random()), () => this.#connect());
  }

  /** Every sign of life puts the end off. */
  #watch(): void {
    this.#stopWatching?.();
    const socket = this.#socket;
    this.#stopWatching = this.#around.later(SILENCE_MS, () => {
      if (!socket || socket !== this.#socket) return;
      socket.close();
      this.#lost(socket); // a dead connection may never say that it closed
    });
  }

  #rest(): void {
    const socket = this.#socket;
    this.#stopWaiting?.();
    this.#stopWaiting = null;
    this.#forget();
    socket?.close();
  }

  #forget(): void {
    this.#stopWatching?.();
    this.#stopWatching = null;
    this.#socket = null;
    this.#isOpen = false;
    this.#started = false;
  }
}

/** Doubles up to a second and a half, later to half a minute; the jitter keeps a thousand browsers from coming back in one instant. */
export function backOff(failures: number, random: number): number {
  const longest = failures <= SHORT_TRIES ? LONGEST_DELAY_MS : LONGEST_DELAY_LATER_MS;
  return Math.min(longest, FIRST_DELAY_MS * 2 ** (failures - 1)) * (0.5 + random / 2);
}

function take(found: StreamEvent[], events: StreamEvent[], reached: number | null): number | null {
  events.push(...found);
  // nodes are counted by each master for itself
  const seqs = found.filter((event) => event.noun !== "agents").map((event) => event.seq);
  return seqs.reduce<number | null>((most, seq) => Math.max(most ?? 0, seq), reached);
}
