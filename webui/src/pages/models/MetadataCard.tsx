// Metadata of a model or a version: read as JSON, edited as JSON, never over a colleague's change.

import type { Operations } from "../../api/schema";
import { useAct } from "../../api/useApi";
import css from "../../detail/detail.module.css";
import { type Draft, useDraft } from "../../notes/draft";
import { NoteEditor } from "../../notes/NoteEditor";
import { Button } from "../../ui/Button";
import { Card } from "../../ui/Card";
import { jsonText } from "../../ui/format";
import { holdsLongInteger, type Metadata, metadataText, readMetadata } from "./metadata";

interface MetadataCardProps {
  /** Names the draft and the message: "model 7". */
  what: string;
  metadata: Metadata;
  isDisabled?: boolean;
  /** As it is on the master now. */
  read: () => Promise<Metadata>;
  write: (metadata: Metadata) => Promise<unknown>;
  invalidate: (keyof Operations)[];
}

const TOO_LONG = "It has integers of more digits than a browser keeps; change it from Python.";

export function MetadataCard({ what, metadata, isDisabled = false, read, write, invalidate }: MetadataCardProps) {
  const [draft, setDraft] = useDraft(`${what} metadata`);
  const act = useAct();
  const isTooLong = holdsLongInteger(metadata);
  const isEmpty = Object.keys(metadata).length === 0;
  const save = async ({ text, base }: Draft): Promise<string | null> => {
    const next = readMetadata(text);
    if ("problem" in next) throw new Error(next.problem);
    const current = await read();
    if (metadataText(current) !== base) return metadataText(current);
    await write(next.metadata);
    await act({
      label: `Saved the metadata of ${what}`,
      run: () => Promise.resolve(),
      undo: () => write(current),
      invalidate,
    });
    return null;
  };
  const start = () => setDraft({ text: metadataText(metadata), base: metadataText(metadata) });
  return (
    <Card
      title="Metadata"
      actions={
        draft === null && (
          <Button isDisabled={isDisabled || isTooLong} onPress={start} aria-label="Edit metadata">
            Edit
          </Button>
        )
      }
    >
      {draft !== null && (
        <NoteEditor
          label="Metadata (JSON)"
          draft={draft}
          onDraft={setDraft}
          onSave={save}
          noun="this metadata"
          problemOf={problemOf}
          rows={10}
        />
      )}
      {draft === null && isTooLong && <p className={css["muted"]}>{TOO_LONG}</p>}
      {draft === null && isEmpty && <p className={css["muted"]}>None yet: names with values, such as a dataset.</p>}
      {draft === null && !isEmpty && <pre className={css["json"]}>{jsonText(metadata)}</pre>}
    </Card>
  );
}

function problemOf(text: string): string | null {
  const found = readMetadata(text);
  return "problem" in found ? found.problem : null;
}
