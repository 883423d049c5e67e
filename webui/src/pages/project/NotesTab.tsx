// Notes of a project: pages of Markdown, one shown, each edited in place.
import { Plus } from "lucide-react";
import { useState } from "react";
import { call } from "../../api/client";
import type { Schemas } from "../../api/schema";
import { useAct } from "../../api/useApi";
import { Button } from "../../ui/Button";
import { cx } from "../../ui/cx";
import { Empty } from "../../ui/Empty";
import { Markdown } from "../../ui/Markdown";
import { TextField } from "../../ui/TextField";
import { int, useUrlState } from "../../url";
import css from "./project.module.css";

type Note = Schemas["Note"];

export function NotesTab({ project }: { project: Schemas["Project"] }) {
  const { notes } = project;
  const [at, setAt] = useUrlState("note", int, 0);
  const [draft, setDraft] = useState<Note | null>(null);
  const act = useAct();
  const note = notes[Math.min(at, notes.length - 1)];
  const save = (next: Note[], label: string) =>
    act({
      label,
      run: () => put(project.id, next),
      undo: () => put(project.id, notes),
      invalidate: ["GET /api/v1/projects/{project_id}"],
    });
  const add = async () => {
    const blank = { name: `Page ${notes.length + 1}`, contents: "" };
    if (!(await save([...notes, blank], "Added a page"))) return;
    setAt(notes.length);
    setDraft(blank);
  };
  const replace = async () => {
    if (
      draft &&
      (await save(
        notes.map((one) => (one === note ? draft : one)),
        `Saved ${draft.name}`,
      ))
    )
      setDraft(null);
  };
  const remove = () =>
    void save(
      notes.filter((one) => one !== note),
      `Deleted ${note?.name ?? ""}`,
    ).then(() => setAt(0));
  const addButton = (
    <Button icon={<Plus size={14} aria-hidden="true" />} onPress={() => void add()}>
      New page
    </Button>
  );
  if (!note) {
    return (
      <Empty title="No notes yet">
        <p>Write down what the experiments of this project are for.</p>
        {addButton}
      </Empty>
    );
  }
  return (
    <div className={css["notes"]}>
      <nav aria-label="Pages of notes">
        <ul>
          {notes.map((one, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: pages may share a name
            <li key={index}>
              <button
                type="button"
                className={cx(css["notePage"])}
                aria-current={one === note ? "page" : undefined}
                onClick={() => {
                  setDraft(null);
                  setAt(index);
                }}
              >
                {one.name || "Untitled"}
              </button>
            </li>
          ))}
        </ul>
        {addButton}
      </nav>
      <article>
        {draft ? (
          <>
            <TextField label="Title" value={draft.name} onChange={(name) => setDraft({ ...draft, name })} />
            <TextField
              label="Text (Markdown)"
              rows={18}
              value={draft.contents}
              onChange={(contents) => setDraft({ ...draft, contents })}
            />
            <div className={css["buttons"]}>
              <Button kind="primary" onPress={() => void replace()}>
                Save
              </Button>
              <Button onPress={() => setDraft(null)}>Cancel</Button>
            </div>
          </>
        ) : (
          <>
            <div className={css["buttons"]}>
              <h2>{note.name || "Untitled"}</h2>
              <Button onPress={() => setDraft(note)}>Edit</Button>
              <Button kind="danger" onPress={remove}>
                Delete
              </Button>
            </div>
            {note.contents === "" ? (
              <p className={css["note"]}>This page is empty.</p>
            ) : (
              <Markdown text={note.contents} />
            )}
          </>
        )}
      </article>
    </div>
  );
}

function put(projectId: number, notes: Note[]) {
  return call("PUT /api/v1/projects/{project_id}/notes", {
    path: { project_id: projectId },
    body: { notes, projectId },
  });
}
