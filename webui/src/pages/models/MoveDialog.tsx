// Where a model goes: another workspace.
import { useState } from "react";
import type { Schemas } from "../../api/schema";
import { WorkspaceSelect } from "../../detail/WorkspaceSelect";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";

interface MoveDialogProps {
  model: Schemas["Model"];
  onPick: (workspaceId: number) => void;
  onClose: () => void;
}

export function MoveDialog({ model, onPick, onClose }: MoveDialogProps) {
  const [to, setTo] = useState(model.workspaceId);
  return (
    <Dialog
      title={`Move ${model.name}`}
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="primary" isDisabled={to === model.workspaceId} onPress={() => onPick(to)}>
            Move
          </Button>
        </>
      }
    >
      <WorkspaceSelect value={to} onChange={setTo} />
      <p>Names, versions and addresses of the model stay as they are. A workspace with models cannot be deleted.</p>
    </Dialog>
  );
}
