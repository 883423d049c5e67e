// The registry of shortcuts and the pure matching of keys against them.
import { singleKeysAreOn } from "../theme/preferences";

export interface Shortcut {
  keys: string;
  label: string;
  action: () => void;
}

export interface KeyPress {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

const SEQUENCE_MS = 1200;

let registered: readonly Shortcut[] = [];
let before: { step: string; at: number } | null = null;

export function addShortcut(shortcut: Shortcut): () => void {
  registered = [...registered, shortcut];
  return () => {
    registered = registered.filter((one) => one !== shortcut);
  };
}

export function shortcuts(): readonly Shortcut[] {
  return registered;
}

/** Listens for as long as the page lives; the shell starts it once. */
export function listen(target: Window): () => void {
  const onKey = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing) return;
    const isChord = event.ctrlKey || event.metaKey;
    if (!isChord && (!singleKeysAreOn() || isTyping(event.target) || isInsideOverlay(event.target))) return;
    const found = press(event, event.timeStamp);
    if (!found) return;
    event.preventDefault();
    found.action();
  };
  target.addEventListener("keydown", onKey);
  return () => target.removeEventListener("keydown", onKey);
}

/** Feeds one key press; answers with the shortcut it completes. The last registered wins. */
export function press(event: KeyPress, at: number): Shortcut | undefined {
  const step = stepOf(event);
  if (step === null) return undefined;
  const sequence = before && at - before.at < SEQUENCE_MS ? `${before.step} ${step}` : null;
  const found = registered.findLast((one) => one.keys === sequence) ?? registered.findLast((one) => one.keys === step);
  before = found ? null : { step, at };
  return found;
}

/** `mod+k`, `?`, `g`; null for a lone modifier. */
export function stepOf(event: KeyPress): string | null {
  if (["Control", "Meta", "Alt", "Shift"].includes(event.key)) return null;
  if (event.altKey) return null;
  const key = event.key === " " ? "space" : event.key.length === 1 ? event.key : event.key.toLowerCase();
  return event.ctrlKey || event.metaKey ? `mod+${key.toLowerCase()}` : key;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.isContentEditable ||
    target.matches("input:not([type=checkbox], [type=radio], [type=range]), textarea, select")
  );
}

function isInsideOverlay(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest("[role=dialog], [role=alertdialog], [role=menu], [role=listbox]") !== null
  );
}
