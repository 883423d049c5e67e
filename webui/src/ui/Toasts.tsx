// Shows the toasts: a polite live region for news, an assertive one for errors.
import { X } from "lucide-react";
import { useSyncExternalStore } from "react";
import { Button, IconButton } from "./Button";
import { cx } from "./cx";
import { straight } from "./format";
import css from "./Toasts.module.css";
import { dismiss, holdToast, onToasts, type ShownToast, startTimer, toasts } from "./toast";

export function Toasts() {
  const shown = useSyncExternalStore(onToasts, toasts);
  const errors = shown.filter((one) => one.kind === "error");
  const news = shown.filter((one) => one.kind !== "error");
  return (
    <section className={css["region"]} aria-label="Notifications">
      <div role="status" aria-live="polite">
        {news.map((one) => (
          <Toast key={one.id} toast={one} />
        ))}
      </div>
      <div role="alert">
        {errors.map((one) => (
          <Toast key={one.id} toast={one} />
        ))}
      </div>
    </section>
  );
}

function Toast({ toast }: { toast: ShownToast }) {
  const { id, undo, action } = toast;
  const isError = toast.kind === "error";
  const andDismiss = (run: () => unknown) => () => {
    dismiss(id);
    run();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only keeps the toast while someone reads it
    <div
      className={cx(css["toast"], isError && css["error"])}
      onPointerEnter={() => holdToast(id)}
      onPointerLeave={() => isError || startTimer(id)}
      onFocus={() => holdToast(id)}
      onBlur={() => isError || startTimer(id)}
    >
      <span className={css["text"]}>
        {isError && <span aria-hidden="true">✕ </span>}
        {straight(toast.text)}
      </span>
      {action && <Button onPress={andDismiss(action.run)}>{action.label}</Button>}
      {undo && <Button onPress={andDismiss(undo)}>Undo</Button>}
      <IconButton label="Dismiss" onPress={() => dismiss(id)}>
        <X size={14} aria-hidden="true" />
      </IconButton>
    </div>
  );
}
