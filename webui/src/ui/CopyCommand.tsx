// A command to copy: monospace, one press on the button puts it on the clipboard.
import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { IconButton } from "./Button";
import { copyText } from "./clipboard";
import css from "./feedback.module.css";

export function CopyCommand({ text }: { text: string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <div className={css["command"]}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long command scrolls, and the keyboard must reach its end */}
      <code tabIndex={0}>{text}</code>
      <IconButton label={isCopied ? "Copied" : `Copy: ${text}`} onPress={() => void copyText(text).then(setCopied)}>
        {isCopied ? <Check size={14} aria-hidden="true" /> : <Copy size={14} aria-hidden="true" />}
      </IconButton>
    </div>
  );
}
