// A dialog around a form: Enter sends it, a refusal of the master stays in it, and it is sent once at a time.
import { type FormEvent, type ReactNode, useId, useState } from "react";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { errorText } from "../ui/errorText";
import css from "./registry.module.css";

interface FormDialogProps {
  title: string;
  verb: string;
  isReady: boolean;
  /** Does it. Rejects with what the form should say. */
  onSend: () => Promise<unknown>;
  onClose: () => void;
  /** The fields, given what was refused last. */
  children: (error: string | null) => ReactNode;
}

export function FormDialog({ title, verb, isReady, onSend, onClose, children }: FormDialogProps) {
  const [error, setError] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);
  const form = useId();
  const send = async (event: FormEvent) => {
    event.preventDefault();
    if (!isReady || isSending) return;
    setSending(true);
    setError(null);
    try {
      await onSend();
    } catch (failure) {
      setError(errorText(failure));
    }
    setSending(false);
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="primary" isDisabled={!isReady} isPending={isSending} onPress={() => submit(form)}>
            {verb}
          </Button>
        </>
      }
    >
      <form id={form} className={css["form"]} onSubmit={(event) => void send(event)}>
        {children(error)}
        {/* without a button of its own a form of several fields is not sent by Enter */}
        <input type="submit" hidden />
      </form>
    </Dialog>
  );
}

function submit(id: string): void {
  const form = document.getElementById(id);
  if (form instanceof HTMLFormElement) form.requestSubmit();
}
