// Notes of a project: pages of Markdown, one shown, each edited in place.
import { Plus } from "lucide-react";
import { call } from "../../api/client";
import type { Schemas } from "../../api/schema";
import { useAct } from "../../api/useApi";
import { currentOf, placeOf } from "../../notes/conflict";
import { type Draft, useDraft } from "../../notes/draft";
import { NoteEditor } from "../../notes/NoteEditor";
import { Button } from "../../ui/Button";
import { cx } from "../../ui/cx";
import { Empty } from "../../ui/Empty";
import { Markdown } from "../../ui/Markdown";
import { int, useUrlState } from "../../url";
import css from "./project.module.css";

type Note = Schemas["Note"];

export function NotesTab({ project }: { project: Schemas["Project"] }) {
  const { notes } = project;
  const [at, setAt] = useUrlState("note", int, 0);
  const index = Math.min(at, notes.length - 1);
  const [draft, setDraft] = useDraft(`project ${project.id} note ${index}`);
  const note = notes[index];
  const { change, replace } = useNotes(project);
  const add = async () => {
    const blank = { name: `Page ${notes.length + 1}`, contents: "" };
    if (await change((pages) => [...pages, blank], "Added a page")) setAt(notes.length);
  };
  const remove = () =>
    void change((pages) => pages.filter((_, place) => place !== index), `Deleted ${note?.name ?? ""}`).then(() =>
      setAt(0),
    );
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
          {notes.map((one, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: pages may share a name
            <li key={place}>
              <button
                type="button"
                className={cx(css["notePage"])}
                aria-current={one === note ? "page" : undefined}
                onClick={() => setAt(place)}
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
          <NoteEditor
            label="Text (Markdown)"
            draft={draft}
            onDraft={setDraft}
            onSave={(next) => replace(note, index, next)}
          />
        ) : (
          <>
            <div className={css["buttons"]}>
              <h2>{note.name || "Untitled"}</h2>
              <Button onPress={() => setDraft({ text: note.contents, base: note.contents, title: note.name })}>
                Edit
              </Button>
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

interface NoteActions {
  /** Makes other pages of those that there are. */
  change: (next: (pages: Note[]) => Note[], label: string) => Promise<boolean>;
  /** Saves one page; answers its text where somebody else has changed it. */
  replace: (before: Note, at: number, draft: Draft) => Promise<string | null>;
}

function useNotes({ id, notes }: Schemas["Project"]): NoteActions {
  const act = useAct();
  const told = (label: string, run: () => Promise<unknown>, undo: () => Promise<unknown>) =>
    act({ label, run, undo, invalidate: ["getProject"] });
  const change: NoteActions["change"] = (next, label) => {
    const after = next(notes);
    return told(
      label,
      () => put(id, after, notes),
      () => put(id, notes, after),
    );
  };
  const replace: NoteActions["replace"] = async (before, at, draft) => {
    const page = { name: draft.title ?? before.name, contents: draft.text };
    let pages: Note[] = notes;
    // twice: when others have changed other pages only, the second save goes through
    for (let turn = 0; turn < 2; turn++) {
      const place = placeOf(pages, at, before);
      const current = pages[place]?.contents ?? "";
      if (current !== draft.base) return current;
      const after = place < 0 ? [...pages, page] : pages.map((one, i) => (i === place ? page : one));
      try {
        await put(id, after, pages);
        const known = pages;
        await told(
          `Saved ${page.name}`,
          () => Promise.resolve(),
          () => put(id, known, after),
        );
        return null;
      } catch (error) {
        const found = currentOf<Note[]>(error);
        if (found === undefined) throw error;
        pages = found;
      }
    }
    return pages[placeOf(pages, at, before)]?.contents ?? "";
  };
  return { change, replace };
}

function put(projectId: number, notes: Note[], expected: Note[]) {
  return call("putProjectNotes", {
    path: { project_id: projectId },
    body: { notes, projectId, expected },
  });
}
