// What can be done to a version: items of a menu with the reason where one may not, and the dialog that one has opened.
import { type ReactNode, useState } from "react";
import { call } from "../../api/client";
import type { Operations, Schemas } from "../../api/schema";
import { useSession } from "../../api/session";
import { useAct } from "../../api/useApi";
import type { MenuAction } from "../../ui/Menu";
import { useConfirm } from "../../ui/useConfirm";
import { navigate } from "../../url";
import { EditDialog } from "./EditDialog";
import { versionDeletionOf, whyVersionStays } from "./rules";

export type Version = Schemas["ModelVersion"];

export const VERSION: (keyof Operations)[] = ["getModelVersion", "listModelVersions", "listCheckpointVersions"];

export interface VersionActions {
  actions: MenuAction[];
  dialog: ReactNode;
}

/** `trainerId`: the owner of the experiment that made the checkpoint, who may delete the version too. */
export function useVersionActions(version: Version, trainerId: number | undefined): VersionActions {
  const act = useAct();
  const { confirm } = useConfirm();
  const { permissions } = useSession();
  const [isEditing, setEditing] = useState(false);
  const { model } = version;
  const path = { model_name: String(model.id), version: String(version.version) };
  const remove = async () => {
    if (!(await confirm(versionDeletionOf(model.name, version.version, version.aliases ?? [])))) return;
    const isDone = await act({
      label: `Deleted version ${version.version} of ${model.name}`,
      run: () => call("deleteModelVersion", { path }),
      invalidate: ["listModels", "listModelVersions", "listModelAliases", "listCheckpointVersions"],
    });
    if (isDone) navigate(`/models/${model.id}`, { replace: true });
  };
  const mayDelete = [version.userId, model.userId, trainerId].some(permissions.mayChange);
  return {
    actions: [
      { id: "edit", label: "Edit name and comment…", onAction: () => setEditing(true) },
      {
        id: "compare",
        label: "Compare with other versions…",
        isDisabled: model.numVersions < 2,
        why: "The model has no other version.",
        onAction: () => navigate(`/models/${model.id}/compare?versions=${version.version}`),
      },
      {
        id: "delete",
        label: "Delete…",
        danger: true,
        isDisabled: !mayDelete,
        why: whyVersionStays(version.username, model.username),
        onAction: () => void remove(),
      },
    ],
    dialog: isEditing ? <Edit version={version} onClose={() => setEditing(false)} /> : null,
  };
}

function Edit({ version, onClose }: { version: Version; onClose: () => void }) {
  const { model } = version;
  const path = { model_name: String(model.id), version: String(version.version) };
  return (
    <EditDialog
      title={`Edit version ${version.version} of ${model.name}`}
      fields={[
        { key: "name", label: "Name", value: version.name ?? "" },
        { key: "comment", label: "Comment", value: version.comment ?? "", rows: 4 },
      ]}
      onSave={(changes) => call("patchModelVersion", { path, body: changes })}
      done={`Changed version ${version.version} of ${model.name}`}
      invalidate={VERSION}
      onClose={onClose}
    />
  );
}
