// The one way to the master: typed calls, NDJSON streams, errors with the server's own words. The cookie signs requests.
import { reachable, unreachable } from "./connection";
import { type Operations, PATHS } from "./schema";

type Part<Name extends string, T> = [T] extends [never]
  ? unknown
  : Record<never, never> extends T
    ? { [N in Name]?: T | undefined }
    : { [N in Name]: T };

/** What an operation takes: `path`, `query` and `body`, each only where the operation has it. */
export type Params<K extends keyof Operations> = Part<"path", Operations[K]["path"]> &
  Part<"query", Operations[K]["query"]> &
  Part<"body", Operations[K]["body"]>;

/** Operations that need parameters demand them; the others may be called without. */
export type Args<K extends keyof Operations> =
  Record<never, never> extends Params<K>
    ? [params?: Params<K> | undefined, signal?: AbortSignal | undefined]
    : [params: Params<K>, signal?: AbortSignal | undefined];

/** What each line of a stream holds. */
export type Line<K extends keyof Operations> = Operations[K]["response"] extends { result: infer T } ? T : never;

/** A refused or failed request. `status` is 0 when nobody answered. */
export class ApiError extends Error {
  readonly status: number;
  readonly reason: string;
  readonly details: unknown;

  constructor(message: string, status: number, reason: string, details?: unknown) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.reason = reason;
    this.details = details;
  }
}

export async function call<K extends keyof Operations>(op: K, ...args: Args<K>): Promise<Operations[K]["response"]> {
  const [params, signal] = args;
  const answer = await send(requestOf(op, (params ?? {}) as LooseParams), signal);
  const text = await answer.text();
  return (text === "" ? {} : JSON.parse(text)) as Operations[K]["response"];
}

/** Reads a newline-delimited stream and yields each `result`. Ends when the server ends it or the signal aborts. */
export async function* lines<K extends keyof Operations>(
  op: K,
  params: Params<K>,
  signal: AbortSignal,
): AsyncGenerator<Line<K>, void, undefined> {
  const answer = await send(requestOf(op, params as LooseParams), signal);
  if (!answer.body) return;
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    yield* resultsOf<Line<K>>(reader);
  } finally {
    // a consumer that stops early must not leave the connection open: browsers allow six per origin
    await reader.cancel().catch(() => undefined);
  }
}

/** Tells the page that the session has ended, so that it can offer the sign-in. */
export function onSignedOut(handler: () => void): void {
  signedOut = handler;
}

export interface LooseParams {
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
}

interface Request {
  method: string;
  url: string;
  body?: unknown;
}

let signedOut: () => void = () => undefined;

export function requestOf(op: keyof Operations, params: LooseParams): Request {
  const where = PATHS[op];
  const space = where.indexOf(" ");
  const path = where.slice(space + 1).replace(/\{(\w+)(?::\w+)?\}/g, (_, name: string) => {
    const value = params.path?.[name];
    if (value === undefined || value === null) throw new TypeError(`${op} needs the path parameter ${name}`);
    return encodeURIComponent(String(value));
  });
  const request = { method: where.slice(0, space), url: path + queryString(params.query ?? {}) };
  return params.body === undefined ? request : { ...request, body: params.body };
}

/** Lists become repeated parameters; undefined and null are left out. */
export function queryString(query: Record<string, unknown>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null) search.append(name, String(one));
    }
  }
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}

async function send(request: Request, signal?: AbortSignal): Promise<Response> {
  const answer = await fetched(request, signal);
  reachable();
  if (answer.ok) return answer;
  const error = errorOf(answer.status, await answer.text());
  if (answer.status === 401 && request.url !== requestOf("login", {}).url) signedOut();
  throw error;
}

async function fetched(request: Request, signal?: AbortSignal): Promise<Response> {
  const init: RequestInit = {
    method: request.method,
    credentials: "same-origin",
    headers: { Accept: "application/json" },
  };
  if (signal) init.signal = signal;
  if (request.body !== undefined) {
    init.body = JSON.stringify(request.body);
    init.headers = { Accept: "application/json", "Content-Type": "application/json" };
  }
  try {
    return await fetch(request.url, init);
  } catch (error) {
    if (signal?.aborted) throw error;
    unreachable();
    throw new ApiError("the master does not answer; check that it runs and that the network is up", 0, "unreachable");
  }
}

async function* resultsOf<T>(reader: ReadableStreamDefaultReader<string>): AsyncGenerator<T, void, undefined> {
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    const parts = (rest + (value ?? "")).split("\n");
    rest = done ? "" : (parts.pop() ?? "");
    for (const part of parts) {
      if (part.trim() !== "") yield resultOf<T>(part);
    }
    if (done) return;
  }
}

function resultOf<T>(line: string): T {
  const parsed = JSON.parse(line) as { result?: T; error?: unknown };
  if (parsed.error !== undefined && parsed.error !== null) throw errorOf(500, line);
  return parsed.result as T;
}

export function errorOf(status: number, text: string): ApiError {
  const { error, message } = parsedError(text);
  const words = error?.error ?? error?.message ?? message ?? `the master answered with status ${status}`;
  return new ApiError(words, error?.http_code ?? status, error?.reason ?? "unknown", error?.details);
}

interface WireError {
  error?: { error?: string; message?: string; reason?: string; details?: unknown; http_code?: number };
  message?: string;
}

function parsedError(text: string): WireError {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null ? (parsed as WireError) : {};
  } catch {
    // a proxy in between may answer HTML
    return {};
  }
}
