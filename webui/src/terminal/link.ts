// The connection of a terminal: what is typed goes to the shell, its output comes back; a lost one is made again.

export type LinkState =
  | { kind: "connecting" }
  | { kind: "open" }
  /** The connection broke; it is tried again by itself. The programs go on meanwhile. */
  | { kind: "lost" }
  /** It is not there yet, in the master's words; it is tried again by itself. */
  | { kind: "waiting"; reason: string }
  /** The master said no, in its words. */
  | { kind: "refused"; reason: string }
  | { kind: "ended"; status: number };

export interface Size {
  columns: number;
  rows: number;
}

/** What of a WebSocket is used. */
export interface Socket {
  binaryType: string;
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
  send: (data: string | Uint8Array<ArrayBuffer>) => void;
  close: () => void;
}

export interface LinkOptions {
  open: () => Socket;
  size: () => Size;
  onOutput: (output: Uint8Array) => void;
  onState: (state: LinkState) => void;
  /** Calls after so many milliseconds; answers how to take it back. */
  later?: (action: () => void, ms: number) => () => void;
}

const REFUSED = 1008;
const NOT_YET = 1013;
const FIRST_MS = 500;
const LONGEST_MS = 15_000;

export class TerminalLink {
  private socket: Socket | null = null;
  private isOpen = false;
  private hasAnswered = false;
  private failures = 0;
  private ended: number | null = null;
  private forget: () => void = () => undefined;
  private readonly options: LinkOptions;
  private readonly encoder = new TextEncoder();

  constructor(options: LinkOptions) {
    this.options = options;
  }

  connect(): void {
    this.close();
    this.ended = null;
    this.hasAnswered = false;
    this.options.onState({ kind: "connecting" });
    const socket = this.options.open();
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => {
      this.isOpen = true;
      this.resize();
    };
    socket.onmessage = ({ data }) => this.take(data);
    socket.onclose = (event) => this.closed(event);
  }

  type(text: string): void {
    this.send(this.encoder.encode(text));
  }

  /** Bytes that are no text, such as reports of the mouse. */
  typeBytes(text: string): void {
    this.send(Uint8Array.from(text, (one) => one.charCodeAt(0)));
  }

  /** Tells the shell the size that the terminal has now. */
  resize(): void {
    if (this.isOpen) this.socket?.send(JSON.stringify(this.options.size()));
  }

  close(): void {
    this.forget();
    this.isOpen = false;
    const { socket } = this;
    this.socket = null;
    if (!socket) return;
    socket.onclose = null;
    socket.onmessage = null;
    socket.close();
  }

  private send(data: Uint8Array<ArrayBuffer>): void {
    if (this.isOpen) this.socket?.send(data);
  }

  private take(data: unknown): void {
    if (typeof data === "string") {
      this.ended = statusOf(data);
      return;
    }
    if (!(data instanceof ArrayBuffer)) return;
    // the first words of the shell, not the handshake, say that it is there
    if (!this.hasAnswered) this.options.onState({ kind: "open" });
    this.hasAnswered = true;
    this.failures = 0;
    this.options.onOutput(new Uint8Array(data));
  }

  private closed({ code, reason }: { code: number; reason: string }): void {
    this.isOpen = false;
    this.socket = null;
    if (this.ended !== null) this.options.onState({ kind: "ended", status: this.ended });
    else if (code === REFUSED) this.options.onState({ kind: "refused", reason });
    else this.tryAgain(code === NOT_YET ? { kind: "waiting", reason } : { kind: "lost" });
  }

  private tryAgain(state: LinkState): void {
    this.options.onState(state);
    this.failures += 1;
    const wait = Math.min(LONGEST_MS, FIRST_MS * 2 ** (this.failures - 1));
    this.forget = (this.options.later ?? inBrowser)(() => this.connect(), wait);
  }
}

function inBrowser(action: () => void, ms: number): () => void {
  const timer = setTimeout(action, ms);
  return () => clearTimeout(timer);
}

function statusOf(text: string): number | null {
  try {
    const { status } = JSON.parse(text) as { status?: unknown };
    return typeof status === "number" ? status : null;
  } catch {
    return null;
  }
}
