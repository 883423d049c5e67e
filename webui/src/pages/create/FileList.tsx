// The chosen files: press one to see it, take one out.
import { X } from "lucide-react";
import { IconButton } from "../../ui/Button";
import { bytes } from "../../ui/format";
import css from "./create.module.css";
import type { CodeFile } from "./files";

const MOST_SHOWN = 200;

export interface FileListProps {
  files: readonly CodeFile[];
  open: string | null;
  onOpen: (path: string) => void;
  onRemove: (path: string) => void;
}

export function FileList({ files, open, onOpen, onRemove }: FileListProps) {
  return (
    <ul className={css["files"]} aria-label="Files">
      {files.slice(0, MOST_SHOWN).map((file) => (
        <li key={file.path}>
          <button type="button" aria-current={file.path === open || undefined} onClick={() => onOpen(file.path)}>
            <code>{file.path}</code>
          </button>
          <span className={css["muted"]}>{bytes(file.content.length)}</span>
          <IconButton label={`Take ${file.path} out`} onPress={() => onRemove(file.path)}>
            <X size={14} aria-hidden="true" />
          </IconButton>
        </li>
      ))}
      {files.length > MOST_SHOWN && <li className={css["muted"]}>and {files.length - MOST_SHOWN} more</li>}
    </ul>
  );
}
