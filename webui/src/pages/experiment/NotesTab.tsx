// Notes of an experiment as Markdown: read, written, saved with Undo.

import { useState } from "react";
import { call } from "../../api/client";
import { useAct } from "../../api/useApi";
import css from "../../detail/detail.module.css";
import type { Experiment } from "../../detail/types";
import { Button } from "../../ui/Button";
import { Empty } from "../../ui/Empty";
import { Markdown } from "../../ui/Markdown";
import { TextField } from "../../ui/TextField";

export function NotesTab({ experiment }: { experiment: Experiment }) {
  const [draft, setDraft] = useState<string | null>(null);
  const save = useSave(experiment);
  const notes = experiment.notes ?? "";
  if (draft !== null) {
    const finish = async (): Promise<void> => {
      if (await save(draft)) setDraft(null);
    };
    return (
      <div className={css["stack"]}>
        <TextField label="Notes (Markdown)" rows={18} value={draft} onChange={setDraft} />
        <div className={css["row"]}>
          <Button kind="primary" onPress={() => void finish()}>
            Save
          </Button>
          <Button onPress={() => setDraft(null)}>Cancel</Button>
        </div>
      </div>
    );
  }
  return (
    <div className={css["stack"]}>
      <div className={css["row"]}>
        <Button onPress={() => setDraft(notes)}>{notes === "" ? "Write notes" : "Edit"}</Button>
      </div>
      {notes === "" ? <Empty title="No notes">What was tried, and what came of it.</Empty> : <Markdown text={notes} />}
    </div>
  );
}

function useSave(experiment: Experiment): (notes: string) => Promise<boolean> {
  const act = useAct();
  const put = (notes: string): Promise<unknown> =>
    call("PATCH /api/v1/experiments/{experiment_id}", { path: { experiment_id: experiment.id }, body: { notes } });
  return (notes) =>
    act({
      label: `Saved the notes of experiment ${experiment.id}`,
      run: () => put(notes),
      undo: () => put(experiment.notes ?? ""),
      invalidate: ["GET /api/v1/experiments/{experiment_id}"],
    });
}
