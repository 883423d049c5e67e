// The fields of a new model.
import { WorkspaceSelect } from "../detail/WorkspaceSelect";
import { TextField } from "../ui/TextField";
import type { NewModel } from "./newModel";

interface ModelFieldsProps {
  draft: NewModel;
  onChange: (draft: NewModel) => void;
  /** What the master says against the name. */
  error: string | null;
  autoFocus?: boolean | undefined;
}

export function ModelFields({ draft, onChange, error, autoFocus }: ModelFieldsProps) {
  return (
    <>
      <TextField
        label="Name"
        value={draft.name}
        onChange={(name) => onChange({ ...draft, name })}
        error={error}
        description="Unique in the cluster; not of digits alone, without slashes."
        autoFocus={autoFocus}
        isRequired
      />
      <WorkspaceSelect value={draft.workspaceId} onChange={(workspaceId) => onChange({ ...draft, workspaceId })} />
      <TextField
        label="Description"
        value={draft.description}
        onChange={(description) => onChange({ ...draft, description })}
        rows={2}
      />
      <TextField
        label="Labels"
        value={draft.labels}
        onChange={(labels) => onChange({ ...draft, labels })}
        description="Separated by commas."
      />
    </>
  );
}
