// Writes notes: keeps the draft, and when somebody else has saved meanwhile leaves the choice to the author.
import { useState } from "react";
import { Button } from "../ui/Button";
import { Diff } from "../ui/Diff";
import { errorText } from "../ui/errorText";
import { TextField } from "../ui/TextField";
import { toast } from "../ui/toast";
import { bothTexts } from "./conflict";
import type { Draft } from "./draft";
import css from "./notes.module.css";

export interface NoteEditorProps {
  label: string;
  draft: Draft;
  onDraft: (draft: Draft | null) => void;
  /** Saves where the text is still `draft.base`; answers the text as it is where it is not. */
  onSave: (draft: Draft) => Promise<string | null>;
  /** What is written, as the message about a colleague's save calls it. */
  noun?: string | undefined;
  /** What is wrong with the text; it cannot be saved then. */
  problemOf?: ((text: string) => string | null) | undefined;
  rows?: number | undefined;
}

export function NoteEditor(props: NoteEditorProps) {
  const { label, draft, onDraft, onSave, noun = "these notes", problemOf, rows = 18 } = props;
  const [theirs, setTheirs] = useState<string | null>(null);
  const save = async (next: Draft): Promise<void> => {
    try {
      const current = await onSave(next);
      setTheirs(current);
      if (current === null) onDraft(null);
    } catch (error) {
      toast({ text: errorText(error), kind: "error" });
    }
  };
  const takeBoth = (current: string): void => {
    onDraft({ ...draft, text: bothTexts(current, draft.text), base: current });
    setTheirs(null);
  };
  const problem = problemOf?.(draft.text) ?? null;
  return (
    <div className={css["editor"]}>
      {draft.title !== undefined && (
        <TextField label="Title" value={draft.title} onChange={(title) => onDraft({ ...draft, title })} />
      )}
      <TextField
        label={label}
        rows={rows}
        value={draft.text}
        error={problem}
        onChange={(text) => onDraft({ ...draft, text })}
      />
      {theirs === null ? (
        <div className={css["buttons"]}>
          <Button kind="primary" isDisabled={problem !== null} onPress={() => void save(draft)}>
            Save
          </Button>
          <Button onPress={() => onDraft(null)}>Discard</Button>
          <span className={css["kept"]}>Kept in this browser until you save or discard it.</span>
        </div>
      ) : (
        <section className={css["conflict"]} role="alert">
          <p>
            <strong>Somebody else saved {noun} while you wrote.</strong> Nothing is lost yet: choose what to keep.
          </p>
          <Diff before={theirs} after={draft.text} beforeName="theirs" afterName="yours" />
          <div className={css["buttons"]}>
            <Button kind="primary" onPress={() => takeBoth(theirs)}>
              Edit both together
            </Button>
            <Button onPress={() => void save({ ...draft, base: theirs })}>Save mine over theirs</Button>
            <Button onPress={() => onDraft(null)}>Take theirs</Button>
          </div>
        </section>
      )}
    </div>
  );
}
