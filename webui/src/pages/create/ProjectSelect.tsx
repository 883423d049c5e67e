// Where the experiment goes: workspace and project.
import { useState } from "react";
import { useApi } from "../../api/useApi";
import { Select } from "../../ui/Select";
import css from "./create.module.css";

export function ProjectSelect({ projectId, onChange }: { projectId: number; onChange: (id: number) => void }) {
  const project = useApi("getProject", { path: { project_id: projectId } }, { staleTime: 60_000 });
  const [chosen, setChosen] = useState<number | null>(null);
  const workspaceId = chosen ?? project.data?.project.workspaceId ?? 1;
  const workspaces = useApi("listWorkspaces", { query: { archived: false, limit: 1000 } }, { staleTime: 60_000 });
  const projects = useApi(
    "listProjects",
    { path: { workspace_id: workspaceId }, query: { limit: 1000 } },
    { staleTime: 60_000 },
  );
  const open = (projects.data?.projects ?? []).filter((one) => !one.archived);
  const isHere = open.some((one) => one.id === projectId);
  return (
    <div className={css["fields"]}>
      <Select
        label="Workspace"
        value={String(workspaceId)}
        options={(workspaces.data?.workspaces ?? []).map((one) => ({ id: String(one.id), label: one.name }))}
        onChange={(id) => setChosen(Number(id))}
      />
      <Select
        label="Project"
        value={isHere ? String(projectId) : ""}
        options={[
          ...(isHere ? [] : [{ id: "", label: "choose a project", isDisabled: true }]),
          ...open.map((one) => ({ id: String(one.id), label: one.name })),
        ]}
        onChange={(id) => onChange(Number(id))}
      />
    </div>
  );
}
