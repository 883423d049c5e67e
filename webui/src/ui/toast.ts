// The store of toasts: anything may add one; the shell shows them (see Toasts.tsx).
export interface ToastOptions {
  text: string;
  kind?: "info" | "error" | undefined;
  undo?: (() => unknown) | undefined;
  /** A further action beside Undo, for example Open. */
  action?: { label: string; run: () => void } | undefined;
}

export interface ShownToast extends ToastOptions {
  id: number;
}

const SECONDS = 6;
const MOST = 4;

let shown: readonly ShownToast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();
const timers = new Map<number, ReturnType<typeof setTimeout>>();

/** Shows a few words for some seconds; an error stays until it is closed. */
export function toast(options: ToastOptions): number {
  lastId += 1;
  const id = lastId;
  publish([...shown, { ...options, id }].slice(-MOST));
  if (options.kind !== "error") startTimer(id);
  return id;
}

export function dismiss(id: number): void {
  holdToast(id);
  publish(shown.filter((one) => one.id !== id));
}

/** Keeps a toast while the pointer or the focus is on it. */
export function holdToast(id: number): void {
  clearTimeout(timers.get(id));
  timers.delete(id);
}

export function startTimer(id: number): void {
  holdToast(id);
  timers.set(
    id,
    setTimeout(() => dismiss(id), SECONDS * 1000),
  );
}

export function toasts(): readonly ShownToast[] {
  return shown;
}

export function onToasts(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function publish(next: readonly ShownToast[]): void {
  shown = next;
  for (const listener of listeners) listener();
}
