// Asks for the new name of a template; shows the refusal of the master beside the field.
import { type FormEvent, useId, useState } from "react";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { errorText } from "../../ui/errorText";
import { TextField } from "../../ui/TextField";

interface NameDialogProps {
  name: string;
  onSave: (name: string) => Promise<unknown>;
  onClose: () => void;
}

export function NameDialog({ name, onSave, onClose }: NameDialogProps) {
  const [typed, setTyped] = useState(name);
  const [error, setError] = useState<string | null>(null);
  const form = useId();
  const save = (event: FormEvent) => {
    event.preventDefault();
    onSave(typed.trim()).then(onClose, (failure: unknown) => setError(errorText(failure)));
  };
  const submit = () => {
    const found = document.getElementById(form);
    if (found instanceof HTMLFormElement) found.requestSubmit();
  };
  return (
    <Dialog
      title={`Rename ${name}`}
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="primary" isDisabled={typed.trim() === ""} onPress={submit}>
            Rename
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={save}>
        <TextField label="Name" value={typed} onChange={setTyped} error={error} autoFocus isRequired />
      </form>
      <p>Commands and scripts that name it by its old name will not find it.</p>
    </Dialog>
  );
}
