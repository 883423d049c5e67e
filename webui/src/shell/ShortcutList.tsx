// What `?` shows: every shortcut that works on this page now.
import { Fragment } from "react";
import { Dialog } from "../ui/Dialog";
import { shortcuts } from "../ui/shortcuts";
import css from "./Palette.module.css";

export function ShortcutList({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <Shortcuts />
    </Dialog>
  );
}

export function Shortcuts() {
  const known = new Map(shortcuts().map((one) => [one.keys, one.label]));
  return (
    <dl className={css["keys"]}>
      {[...known].map(([keys, label]) => (
        <Fragment key={keys}>
          <dt>
            <Keys keys={keys} />
          </dt>
          <dd>{label}</dd>
        </Fragment>
      ))}
    </dl>
  );
}

function Keys({ keys }: { keys: string }) {
  return keys.split(" ").map((step, index) => (
    <Fragment key={step}>
      {index > 0 && " then "}
      <kbd>{step.replace("mod+", isMac() ? "⌘ " : "Ctrl ").replace("space", "Space")}</kbd>
    </Fragment>
  ));
}

export function isMac(): boolean {
  return /Mac|iP(hone|ad)/.test(navigator.userAgent);
}
