// The configuration being written: its text, the same as an object for the form, and what the master says of both. The
// page reads no YAML: a dry run turns text into an object and back.
import type { Schemas } from "../../api/schema";
import { editText } from "./lineEdit";
import { type Edit, isSame, type Plain, withEdits } from "./values";

export type DryRun = Schemas["DryRunResponse"];
export type Check = (config: string | Plain, signal: AbortSignal) => Promise<DryRun>;

export interface DraftState {
  text: string;
  /** Null while the text cannot be read. */
  object: Plain | null;
  answer: DryRun | null;
  isChecking: boolean;
  /** Why the dry run itself failed. */
  error: unknown;
}

interface Job {
  /** Null: only the object is known. */
  text: string | null;
  /** What the text has to mean; null: whatever it means. */
  wanted: Plain | null;
}

const PAUSE_MS = 350;

export class DraftStore {
  private state: DraftState = { text: "", object: null, answer: null, isChecking: false, error: null };
  private readonly listeners = new Set<() => void>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private running = new AbortController();
  /** The text was typed and not read yet: the object is of an older one. */
  private isTyped = false;
  /** Edits of the form that wait until the typed text has been read. */
  private waiting: Edit[] = [];
  private check: Check;

  constructor(check: Check) {
    this.check = check;
  }

  readonly snapshot = (): DraftState => this.state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Starts over: reads the text, then makes the edits that depend on what it says. Answers the text before those. */
  async begin(text: string, editsOf: (object: Plain) => Edit[]): Promise<string> {
    this.isTyped = false;
    this.waiting = [];
    this.publish({ text, object: null, answer: null });
    await this.now({ text, wanted: null });
    // JSON is YAML too, but nobody wants to edit that
    const isFlow = /^\s*\{/.test(text);
    if (isFlow && this.state.object !== null) await this.now({ text: null, wanted: this.state.object });
    const first = this.state.text;
    const edits = this.state.object === null ? [] : editsOf(this.state.object);
    if (edits.length > 0) await this.now(this.edited(edits));
    return first;
  }

  /** Typed in the editor. */
  setText(text: string): void {
    this.isTyped = true;
    this.publish({ text });
    this.later({ text, wanted: null });
  }

  /** Chosen in the form: comments of the text stay where that is possible. */
  edit(edits: readonly Edit[]): void {
    if (this.state.object === null || edits.length === 0) return;
    if (!this.isTyped) {
      this.later(this.edited(edits));
      return;
    }
    this.waiting.push(...edits);
    this.publish({ object: withEdits(this.state.object, edits) });
  }

  /** Elsewhere something changed that the check depends on, such as the project. */
  recheck(check: Check): void {
    this.check = check;
    if (this.state.answer !== null) this.later({ text: this.state.text, wanted: null });
  }

  stop(): void {
    clearTimeout(this.timer);
    this.running.abort();
  }

  private edited(edits: readonly Edit[]): Job {
    const wanted = withEdits(this.state.object ?? {}, edits);
    const text = editText(this.state.text, edits);
    this.publish(text === null ? { object: wanted } : { object: wanted, text });
    return { text, wanted };
  }

  private later(job: Job): void {
    this.stop();
    this.publish({ isChecking: true });
    this.timer = setTimeout(() => void this.now(job), PAUSE_MS);
  }

  private async now(job: Job): Promise<void> {
    this.stop();
    this.running = new AbortController();
    const { signal } = this.running;
    this.publish({ isChecking: true });
    try {
      const [text, answer] = await this.checked(job, signal);
      if (signal.aborted) return;
      const object = answer.submitted ?? (text.trim() === "" ? {} : null);
      this.isTyped = false;
      this.publish({ text, object, answer, isChecking: false, error: null });
      this.edit(this.waiting.splice(0));
    } catch (error) {
      if (!signal.aborted) this.publish({ isChecking: false, error });
    }
  }

  /** A text that does not mean what was wanted is replaced by one that the master writes. */
  private async checked({ text, wanted }: Job, signal: AbortSignal): Promise<[string, DryRun]> {
    const answer = text === null ? null : await this.check(text, signal);
    if (text !== null && answer !== null && (wanted === null || isSame(answer.submitted ?? {}, wanted)))
      return [text, answer];
    const written = await this.check(wanted ?? {}, signal);
    return [written.text, written];
  }

  private publish(changes: Partial<DraftState>): void {
    this.state = { ...this.state, ...changes };
    for (const listener of this.listeners) listener();
  }
}
