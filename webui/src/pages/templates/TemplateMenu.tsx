// The actions on one template, with their dialogs.
import { Ellipsis } from "lucide-react";
import { useState } from "react";
import type { Schemas } from "../../api/schema";
import { WorkspaceSelect } from "../../detail/WorkspaceSelect";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Menu } from "../../ui/Menu";
import { useConfirm } from "../../ui/useConfirm";
import { NameDialog } from "./NameDialog";
import { useTemplateActions } from "./useTemplateActions";

interface TemplateMenuProps {
  template: Schemas["Template"];
  /** It has another name now, or is gone (null). */
  onGone?: ((name: string | null) => void) | undefined;
}

export function TemplateMenu({ template, onGone }: TemplateMenuProps) {
  const [asked, setAsked] = useState<"rename" | "move" | null>(null);
  const { confirm } = useConfirm();
  const { renameTemplate, moveTemplate, deleteTemplate } = useTemplateActions();
  const { name } = template;
  const rename = async (newName: string) => {
    await renameTemplate(name, newName);
    onGone?.(newName);
  };
  const remove = async () => {
    const isSure = await confirm({
      title: `Delete template ${name}?`,
      text: "Experiments and tasks that were started with it keep their configurations. This cannot be undone.",
      verb: "Delete",
      isDanger: true,
    });
    if (isSure && (await deleteTemplate(template))) onGone?.(null);
  };
  return (
    <>
      <Menu
        label={`Actions on ${name}`}
        icon={<Ellipsis size={16} aria-hidden="true" />}
        items={[
          { id: "rename", label: "Rename", onAction: () => setAsked("rename") },
          { id: "move", label: "Move", onAction: () => setAsked("move") },
          { id: "delete", label: "Delete", danger: true, onAction: () => void remove() },
        ]}
      />
      {asked === "rename" && <NameDialog name={name} onSave={rename} onClose={() => setAsked(null)} />}
      {asked === "move" && (
        <MoveDialog
          template={template}
          onPick={(to) => void moveTemplate(template, to).then(() => setAsked(null))}
          onClose={() => setAsked(null)}
        />
      )}
    </>
  );
}

interface MoveDialogProps {
  template: Schemas["Template"];
  onPick: (workspaceId: number) => void;
  onClose: () => void;
}

function MoveDialog({ template, onPick, onClose }: MoveDialogProps) {
  const [to, setTo] = useState(template.workspaceId);
  const actions = (
    <Button kind="primary" isDisabled={to === template.workspaceId} onPress={() => onPick(to)}>
      Move
    </Button>
  );
  return (
    <Dialog title={`Move ${template.name}`} onClose={onClose} actions={actions}>
      <WorkspaceSelect value={to} onChange={setTo} />
      <p>A template goes with its workspace when that is deleted. Everybody can use it, wherever it is.</p>
    </Dialog>
  );
}
