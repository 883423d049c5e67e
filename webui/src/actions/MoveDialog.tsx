// Where to: a project of a workspace, chosen by name.

import { useMemo, useState } from "react";
import { useApi } from "../api/useApi";
import { Button } from "../ui/Button";
import { ComboBox } from "../ui/ComboBox";
import { Dialog } from "../ui/Dialog";
import { ErrorCard } from "../ui/ErrorCard";
import { Select } from "../ui/Select";

export interface MoveDialogProps {
  title: string;
  /** The project it is in now, which is no choice. */
  from?: number;
  onPick: (projectId: number, projectName: string) => void;
  onClose: () => void;
}

export function MoveDialog({ title, from, onPick, onClose }: MoveDialogProps) {
  const workspaces = useApi("listWorkspaces", { query: { archived: false, limit: 1000 } });
  const [workspace, setWorkspace] = useState<string>("");
  const [project, setProject] = useState<string>("");
  const chosen = workspace === "" ? String(workspaces.data?.workspaces[0]?.id ?? "") : workspace;
  const projects = useApi(
    "listProjects",
    { path: { workspace_id: Number(chosen) }, query: { limit: 1000 } },
    { enabled: chosen !== "" },
  );
  const options = useMemo(
    () =>
      (projects.data?.projects ?? [])
        .filter((one) => one.id !== from && !one.archived)
        .map((one) => ({ id: String(one.id), label: one.name })),
    [projects.data, from],
  );
  const picked = options.find((one) => one.id === project);
  const move = (
    <Button
      kind="primary"
      isDisabled={picked === undefined}
      onPress={() => picked !== undefined && onPick(Number(picked.id), picked.label)}
    >
      Move
    </Button>
  );
  return (
    <Dialog title={title} onClose={onClose} actions={move}>
      {workspaces.error && <ErrorCard error={workspaces.error} onRetry={() => void workspaces.refetch()} />}
      <Select
        label="Workspace"
        value={chosen}
        options={(workspaces.data?.workspaces ?? []).map((one) => ({ id: String(one.id), label: one.name }))}
        onChange={(id) => {
          setWorkspace(id);
          setProject("");
        }}
      />
      <ComboBox label="Project" value={project} options={options} onChange={setProject} />
      {projects.data !== undefined && options.length === 0 && <p>This workspace has no other project.</p>}
    </Dialog>
  );
}
