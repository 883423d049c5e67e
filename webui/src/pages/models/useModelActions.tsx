// What can be done to a model: items of a menu with the reason where one may not, and the dialog that one has opened.
import { type ReactNode, useState } from "react";
import { call } from "../../api/client";
import type { Operations, Schemas } from "../../api/schema";
import { useSession } from "../../api/session";
import { useAct } from "../../api/useApi";
import type { MenuAction } from "../../ui/Menu";
import { useConfirm } from "../../ui/useConfirm";
import { EditDialog } from "./EditDialog";
import { MoveDialog } from "./MoveDialog";
import { deletionOf, OF_ARCHIVED } from "./rules";

export type Model = Schemas["Model"];

/** Answers that show something of a model. */
export const MODEL: (keyof Operations)[] = ["getModel", "listModels", "listModelLabels", "listModelVersions"];

export interface ModelActions {
  actions: MenuAction[];
  dialog: ReactNode;
  edit: () => void;
  toggleArchived: () => void;
}

export function useModelActions(model: Model, onDeleted?: () => void): ModelActions {
  const act = useAct();
  const { confirm } = useConfirm();
  const { permissions } = useSession();
  const [open, setOpen] = useState<"edit" | "move" | null>(null);
  const path = { model_name: String(model.id) };
  const archive = () => call("archiveModel", { path });
  const unarchive = () => call("unarchiveModel", { path });
  const toggleArchived = () =>
    void act({
      label: `${model.archived ? "Unarchived" : "Archived"} ${model.name}`,
      run: model.archived ? unarchive : archive,
      undo: model.archived ? archive : unarchive,
      invalidate: MODEL,
    });
  const remove = async () => {
    if (!(await confirm(deletionOf(model)))) return;
    const isDone = await act({
      label: `Deleted model ${model.name}`,
      run: () => call("deleteModel", { path }),
      invalidate: ["listModels", "listModelLabels"],
    });
    if (isDone) onDeleted?.();
  };
  const mayDelete = permissions.mayChange(model.userId);
  return {
    edit: () => setOpen("edit"),
    toggleArchived,
    actions: [
      {
        id: "edit",
        label: "Edit name and description…",
        isDisabled: model.archived,
        why: OF_ARCHIVED,
        onAction: () => setOpen("edit"),
      },
      { id: "move", label: "Move…", onAction: () => setOpen("move") },
      { id: "archive", label: model.archived ? "Unarchive" : "Archive", onAction: toggleArchived },
      {
        id: "delete",
        label: "Delete…",
        danger: true,
        isDisabled: !mayDelete,
        why: `Only its owner, ${model.username}, and administrators may delete it.`,
        onAction: () => void remove(),
      },
    ],
    dialog: open === null ? null : <Opened open={open} model={model} onClose={() => setOpen(null)} />,
  };
}

function Opened({ open, model, onClose }: { open: "edit" | "move"; model: Model; onClose: () => void }) {
  const act = useAct();
  const path = { model_name: String(model.id) };
  if (open === "edit") {
    return (
      <EditDialog
        title={`Edit ${model.name}`}
        fields={[
          { key: "name", label: "Name", value: model.name, isRequired: true },
          { key: "description", label: "Description", value: model.description ?? "", rows: 4 },
        ]}
        onSave={(changes) => call("patchModel", { path, body: changes })}
        done={`Changed model ${model.name}`}
        invalidate={MODEL}
        onClose={onClose}
      />
    );
  }
  const to = (destinationWorkspaceId: number) => call("moveModel", { path, body: { destinationWorkspaceId } });
  const pick = (workspaceId: number) => {
    onClose();
    void act({
      label: `Moved model ${model.name}`,
      run: () => to(workspaceId),
      undo: () => to(model.workspaceId),
      invalidate: MODEL,
    });
  };
  return <MoveDialog model={model} onPick={pick} onClose={onClose} />;
}
