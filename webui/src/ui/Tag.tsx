// A label of a thing, with a button to take it off where that is allowed.
import { X } from "lucide-react";
import { IconButton } from "./Button";
import css from "./StatePill.module.css";

export function Tag({ text, onRemove }: { text: string; onRemove?: (() => void) | undefined }) {
  return (
    <span className={css["tag"]}>
      <span>{text}</span>
      {onRemove && (
        <IconButton label={`Remove ${text}`} onPress={onRemove}>
          <X size={12} aria-hidden="true" />
        </IconButton>
      )}
    </span>
  );
}
