// Asks for a name, and a description where there is one; shows the refusal of the master beside the field.
import { type FormEvent, useId, useState } from "react";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { errorText } from "../../ui/errorText";
import { TextField } from "../../ui/TextField";

interface NameDialogProps {
  title: string;
  verb: string;
  name?: string | undefined;
  /** Left out when the thing has none. */
  description?: string | undefined;
  onSave: (name: string, description: string) => Promise<unknown>;
  onClose: () => void;
}

export function NameDialog({ title, verb, name = "", description, onSave, onClose }: NameDialogProps) {
  const [typed, setTyped] = useState(name);
  const [described, setDescribed] = useState(description ?? "");
  const [error, setError] = useState<string | null>(null);
  const form = useId();
  const save = (event: FormEvent) => {
    event.preventDefault();
    onSave(typed.trim(), described.trim()).then(onClose, (failure: unknown) => setError(errorText(failure)));
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="primary" isDisabled={typed.trim() === ""} onPress={() => submit(form)}>
            {verb}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={save}>
        <TextField label="Name" value={typed} onChange={setTyped} error={error} autoFocus isRequired />
        {description !== undefined && (
          <TextField label="Description" value={described} onChange={setDescribed} rows={3} />
        )}
      </form>
    </Dialog>
  );
}

function submit(id: string): void {
  const form = document.getElementById(id);
  if (form instanceof HTMLFormElement) form.requestSubmit();
}
