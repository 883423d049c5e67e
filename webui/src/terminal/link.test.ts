import { expect, test } from "vitest";
import { type LinkState, type Socket, TerminalLink } from "./link";

class FakeSocket implements Socket {
  binaryType = "";
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number; reason: string }) => void) | null = null;
  sent: (string | number[])[] = [];
  isClosed = false;

  send(data: string | Uint8Array): void {
    this.sent.push(typeof data === "string" ? data : [...data]);
  }

  close(): void {
    this.isClosed = true;
  }
}

function made() {
  const sockets: FakeSocket[] = [];
  const states: LinkState[] = [];
  const shown: number[] = [];
  const waits: { action: () => void; ms: number }[] = [];
  const link = new TerminalLink({
    open: () => {
      sockets.push(new FakeSocket());
      return sockets.at(-1) as FakeSocket;
    },
    size: () => ({ columns: 80, rows: 24 }),
    onOutput: (output) => shown.push(...output),
    onState: (state) => states.push(state),
    later: (action, ms) => {
      waits.push({ action, ms });
      return () => undefined;
    },
  });
  link.connect();
  const socket = sockets[0] as FakeSocket;
  return { link, socket, sockets, states, shown, waits };
}

const output = (text: string) => ({ data: new TextEncoder().encode(text).buffer });

test("the size goes first, then what is typed; output is shown", () => {
  const { link, socket, states, shown } = made();
  link.type("too early");
  socket.onopen?.();
  link.type("é");
  link.typeBytes("\u00ff");
  socket.onmessage?.(output("hi"));
  expect(socket.sent).toEqual(['{"columns":80,"rows":24}', [195, 169], [255]]);
  expect(shown).toEqual([104, 105]);
  expect(states).toEqual([{ kind: "connecting" }, { kind: "open" }]);
});

test("a lost connection is made again, ever later until the shell answers", () => {
  const { sockets, states, waits } = made();
  for (const _ of [1, 2, 3]) {
    sockets.at(-1)?.onclose?.({ code: 1006, reason: "" });
    waits.at(-1)?.action();
  }
  expect(waits.map(({ ms }) => ms)).toEqual([500, 1000, 2000]);
  sockets.at(-1)?.onmessage?.(output("back"));
  sockets.at(-1)?.onclose?.({ code: 1006, reason: "" });
  expect(waits.at(-1)?.ms).toBe(500);
  expect(states.at(-1)).toEqual({ kind: "lost" });
  waits.at(-1)?.action();
  sockets.at(-1)?.onclose?.({ code: 1013, reason: "its node is not connected" });
  expect(states.at(-1)).toEqual({ kind: "waiting", reason: "its node is not connected" });
  expect(waits.at(-1)?.ms).toBe(1000);
});

test("a refusal and the end of the program are told, and not tried again", () => {
  const refused = made();
  refused.socket.onclose?.({ code: 1008, reason: "shell x has ended" });
  expect(refused.states.at(-1)).toEqual({ kind: "refused", reason: "shell x has ended" });
  const ended = made();
  ended.socket.onmessage?.({ data: '{"status":3}' });
  ended.socket.onclose?.({ code: 1000, reason: "" });
  expect(ended.states.at(-1)).toEqual({ kind: "ended", status: 3 });
  expect([...refused.waits, ...ended.waits]).toEqual([]);
  ended.link.connect();
  ended.sockets.at(-1)?.onmessage?.(output("again"));
  expect(ended.states.at(-1)).toEqual({ kind: "open" });
});

test("who leaves hears nothing more", () => {
  const { link, socket, states } = made();
  link.close();
  expect([socket.isClosed, socket.onclose, socket.onmessage]).toEqual([true, null, null]);
  link.type("nobody");
  expect([socket.sent, states]).toEqual([[], [{ kind: "connecting" }]]);
});
