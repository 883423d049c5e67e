// For tests: sockets that a test opens, speaks through and breaks, and a clock that it turns.
import type { SocketLike, Surroundings } from "./connection";

export class FakeSocket implements SocketLike {
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: (() => void) | null = null;
  sent: { sync_id: string; subscribe: Record<string, Record<string, unknown>>; epoch: string }[] = [];
  isClosed = false;

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(): void {
    this.isClosed = true;
  }

  say(...messages: unknown[]): void {
    this.onmessage?.({ data: JSON.stringify(messages) });
  }

  /** Answers the newest subscription. */
  sync(seq: number, ...between: unknown[]): void {
    const id = this.sent.at(-1)?.sync_id ?? "";
    this.say({ sync_id: id, complete: false }, ...between, { sync_id: id, complete: true, seq, epoch: "c" });
  }
}

export class FakeWorld implements Surroundings {
  sockets: FakeSocket[] = [];
  #now = 0;
  #timers = new Map<number, { at: number; run: () => void }>();
  #next = 1;

  open = (): SocketLike => {
    const socket = new FakeSocket();
    this.sockets.push(socket);
    return socket;
  };

  later = (ms: number, run: () => void): (() => void) => {
    const id = this.#next++;
    this.#timers.set(id, { at: this.#now + ms, run });
    return () => this.#timers.delete(id);
  };

  random = (): number => 1;

  pass(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const due = [...this.#timers].filter(([, timer]) => timer.at <= end).sort(([, a], [, b]) => a.at - b.at)[0];
      if (!due) break;
      const [id, timer] = due;
      this.#timers.delete(id);
      this.#now = timer.at;
      timer.run();
    }
    this.#now = end;
  }

  get socket(): FakeSocket {
    const newest = this.sockets.at(-1);
    if (!newest) throw new Error("no socket was opened");
    return newest;
  }
}
