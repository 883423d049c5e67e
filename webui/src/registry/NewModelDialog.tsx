// Asks what a new model is called and where it belongs.
import { useState } from "react";
import type { Schemas } from "../api/schema";
import { FormDialog } from "./FormDialog";
import { ModelFields } from "./ModelFields";
import { blankModel, createModel } from "./newModel";

interface NewModelDialogProps {
  workspaceId: number;
  onMade: (model: Schemas["Model"]) => void;
  onClose: () => void;
}

export function NewModelDialog({ workspaceId, onMade, onClose }: NewModelDialogProps) {
  const [draft, setDraft] = useState(() => blankModel(workspaceId));
  return (
    <FormDialog
      title="New model"
      verb="Create"
      isReady={draft.name.trim() !== ""}
      onSend={async () => onMade(await createModel(draft))}
      onClose={onClose}
    >
      {(error) => <ModelFields draft={draft} onChange={setDraft} error={error} autoFocus />}
    </FormDialog>
  );
}
