// Takes a folder or files: dropped, or chosen with a button.
import { FolderUp } from "lucide-react";
import { type DragEvent, useRef, useState } from "react";
import { Button } from "../../ui/Button";
import { cx } from "../../ui/cx";
import { errorText } from "../../ui/errorText";
import { bytes } from "../../ui/format";
import css from "./create.module.css";
import { type CodeFile, fromDrop, fromInput, MOST_BYTES, type Picked, read, sift } from "./files";

export function DropZone({ onFiles }: { onFiles: (files: CodeFile[], ignored: number) => void }) {
  const [isOver, setOver] = useState(false);
  const [problem, setProblem] = useState("");
  const take = async (picked: Promise<Picked[]> | Picked[]) => {
    setProblem("");
    try {
      const { kept, ignored, bytes: total } = await sift(await picked);
      if (total > MOST_BYTES) return setProblem(tooLarge(total, kept));
      if (kept.length === 0) return setProblem("There is no file in it that a task could use.");
      onFiles(await read(kept), ignored);
    } catch (error) {
      setProblem(`It cannot be read: ${errorText(error)}`);
    }
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void take(fromDrop(event.dataTransfer.items));
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the buttons inside do the same without dragging
    <div
      className={cx(css["drop"], isOver && css["over"])}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <p>
        <FolderUp size={16} aria-hidden="true" /> Drop the folder with your code here
      </p>
      <div className={css["row"]}>
        <Pick label="Choose a folder…" isFolder onPick={(files) => void take(fromInput(files))} />
        <Pick label="Choose files…" onPick={(files) => void take(fromInput(files))} />
      </div>
      <p className={css["muted"]}>At most {bytes(MOST_BYTES)}. A .detignore file in it says what stays behind.</p>
      {problem && (
        <p className={css["problem"]} role="alert">
          ✕ {problem}
        </p>
      )}
    </div>
  );
}

function Pick({ label, isFolder, onPick }: { label: string; isFolder?: boolean; onPick: (files: File[]) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={(element) => {
          input.current = element;
          if (isFolder) element?.setAttribute("webkitdirectory", "");
        }}
        type="file"
        multiple
        hidden
        aria-label={label}
        onChange={(event) => {
          onPick([...(event.target.files ?? [])]);
          event.target.value = "";
        }}
      />
      <Button onPress={() => input.current?.click()}>{label}</Button>
    </>
  );
}

function tooLarge(total: number, kept: readonly Picked[]): string {
  const largest = [...kept].sort((a, b) => b.file.size - a.file.size).slice(0, 3);
  const named = largest.map(({ path, file }) => `${path} (${bytes(file.size)})`).join(", ");
  return `The folder holds ${bytes(total)}, over the limit of ${bytes(MOST_BYTES)}. The largest: ${named}. List what the task does not need in a .detignore file.`;
}
