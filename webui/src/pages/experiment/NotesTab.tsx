// Notes of an experiment as Markdown: read, written, saved with Undo.

import { call } from "../../api/client";
import { useAct } from "../../api/useApi";
import css from "../../detail/detail.module.css";
import type { Experiment } from "../../detail/types";
import { currentOf } from "../../notes/conflict";
import { type Draft, useDraft } from "../../notes/draft";
import { NoteEditor } from "../../notes/NoteEditor";
import { Button } from "../../ui/Button";
import { Empty } from "../../ui/Empty";
import { Markdown } from "../../ui/Markdown";

export function NotesTab({ experiment }: { experiment: Experiment }) {
  const [draft, setDraft] = useDraft(`experiment ${experiment.id} notes`);
  const save = useSave(experiment.id);
  const notes = experiment.notes ?? "";
  if (draft !== null) return <NoteEditor label="Notes (Markdown)" draft={draft} onDraft={setDraft} onSave={save} />;
  return (
    <div className={css["stack"]}>
      <div className={css["row"]}>
        <Button onPress={() => setDraft({ text: notes, base: notes })}>{notes === "" ? "Write notes" : "Edit"}</Button>
      </div>
      {notes === "" ? <Empty title="No notes">What was tried, and what came of it.</Empty> : <Markdown text={notes} />}
    </div>
  );
}

function useSave(experimentId: number): (draft: Draft) => Promise<string | null> {
  const act = useAct();
  const put = (notes: string, expectedNotes: string): Promise<unknown> =>
    call("patchExperiment", {
      path: { experiment_id: experimentId },
      body: { notes, expectedNotes },
    });
  return async ({ text, base }) => {
    try {
      await put(text, base);
    } catch (error) {
      const current = currentOf<string>(error);
      if (current === undefined) throw error;
      return current;
    }
    await act({
      label: `Saved the notes of experiment ${experimentId}`,
      run: () => Promise.resolve(),
      undo: () => put(base, text),
      invalidate: ["getExperiment"],
    });
    return null;
  };
}
