// The actions on one workspace, and its rename dialog.
import { Ellipsis } from "lucide-react";
import { useState } from "react";
import type { Schemas } from "../../api/schema";
import { useSession } from "../../api/session";
import { Menu } from "../../ui/Menu";
import { useConfirm } from "../../ui/useConfirm";
import { NameDialog } from "./NameDialog";
import { useWorkspaceActions } from "./useWorkspaceActions";

export function WorkspaceMenu({ workspace }: { workspace: Schemas["Workspace"] }) {
  const [isRenaming, setRenaming] = useState(false);
  const { permissions } = useSession();
  const actions = useWorkspaceActions();
  const { confirmDelete } = useConfirm();
  const isFixed = workspace.immutable || !permissions.mayChange(workspace.userId);
  const remove = async () => {
    if (await confirmDelete(`workspace ${workspace.name}`)) await actions.deleteWorkspace(workspace);
  };
  return (
    <>
      <Menu
        label={`Actions on ${workspace.name}`}
        icon={<Ellipsis size={16} aria-hidden="true" />}
        items={[
          { id: "pin", label: workspace.pinned ? "Unpin" : "Pin", onAction: () => void actions.togglePin(workspace) },
          { id: "rename", label: "Rename", isDisabled: isFixed, onAction: () => setRenaming(true) },
          {
            id: "archive",
            label: workspace.archived ? "Unarchive" : "Archive",
            isDisabled: isFixed,
            onAction: () => void actions.toggleArchive(workspace),
          },
          { id: "delete", label: "Delete", danger: true, isDisabled: isFixed, onAction: () => void remove() },
        ]}
      />
      {isRenaming && (
        <NameDialog
          title="Rename workspace"
          verb="Rename"
          name={workspace.name}
          onSave={(name) => actions.renameWorkspace(workspace.id, name)}
          onClose={() => setRenaming(false)}
        />
      )}
    </>
  );
}
