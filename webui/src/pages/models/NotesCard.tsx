// Notes of a model or a version as Markdown: read, written, never over a colleague's text.
import type { Operations } from "../../api/schema";
import { useAct } from "../../api/useApi";
import css from "../../detail/detail.module.css";
import { currentOf } from "../../notes/conflict";
import { type Draft, useDraft } from "../../notes/draft";
import { NoteEditor } from "../../notes/NoteEditor";
import { Button } from "../../ui/Button";
import { Card } from "../../ui/Card";
import { Markdown } from "../../ui/Markdown";

interface NotesCardProps {
  /** Names the draft and the message: "model 7". */
  what: string;
  notes: string;
  isDisabled?: boolean;
  /** Refused with a conflict where the notes are not `expectedNotes` any more. */
  write: (notes: string, expectedNotes: string) => Promise<unknown>;
  invalidate: (keyof Operations)[];
}

export function NotesCard({ what, notes, isDisabled = false, write, invalidate }: NotesCardProps) {
  const [draft, setDraft] = useDraft(`${what} notes`);
  const act = useAct();
  const save = async ({ text, base }: Draft): Promise<string | null> => {
    try {
      await write(text, base);
    } catch (error) {
      const current = currentOf<string>(error);
      if (current === undefined) throw error;
      return current;
    }
    await act({
      label: `Saved the notes of ${what}`,
      run: () => Promise.resolve(),
      undo: () => write(base, text),
      invalidate,
    });
    return null;
  };
  return (
    <Card
      title="Notes"
      actions={
        draft === null && (
          <Button
            isDisabled={isDisabled}
            onPress={() => setDraft({ text: notes, base: notes })}
            aria-label={notes === "" ? "Write notes" : "Edit notes"}
          >
            {notes === "" ? "Write" : "Edit"}
          </Button>
        )
      }
    >
      {draft !== null && <NoteEditor label="Notes (Markdown)" draft={draft} onDraft={setDraft} onSave={save} />}
      {draft === null && notes === "" && <p className={css["muted"]}>No notes yet.</p>}
      {draft === null && notes !== "" && <Markdown text={notes} />}
    </Card>
  );
}
