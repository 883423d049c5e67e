// What can be done to workspaces and projects; reversible ones at once, with Undo.
import { call } from "../../api/client";
import type { Operations, Schemas } from "../../api/schema";
import { queryClient, useAct } from "../../api/useApi";
import { toast } from "../../ui/toast";
import { navigate } from "../../url";

type Workspace = Schemas["Workspace"];
type Project = Schemas["Project"];

const WORKSPACES: (keyof Operations)[] = ["listWorkspaces", "getWorkspace"];
const PROJECTS: (keyof Operations)[] = ["listProjects", "getProject", "listRecentProjects"];

export function useWorkspaceActions() {
  const act = useAct();
  const pin = (id: number) => call("pinWorkspace", { path: { workspace_id: id } });
  const unpin = (id: number) => call("unpinWorkspace", { path: { workspace_id: id } });
  const archive = (id: number) => call("archiveWorkspace", { path: { workspace_id: id } });
  const unarchive = (id: number) => call("unarchiveWorkspace", { path: { workspace_id: id } });
  const shelve = (id: number) => call("archiveProject", { path: { project_id: id } });
  const unshelve = (id: number) => call("unarchiveProject", { path: { project_id: id } });
  return {
    createWorkspace,
    createProject,
    renameWorkspace,
    editProject,
    togglePin: ({ id, name, pinned }: Workspace) =>
      act({
        label: `${pinned ? "Unpinned" : "Pinned"} ${name}`,
        run: () => (pinned ? unpin(id) : pin(id)),
        undo: () => (pinned ? pin(id) : unpin(id)),
        invalidate: WORKSPACES,
      }),
    toggleArchive: ({ id, name, archived }: Workspace) =>
      act({
        label: `${archived ? "Unarchived" : "Archived"} ${name}`,
        run: () => (archived ? unarchive(id) : archive(id)),
        undo: () => (archived ? archive(id) : unarchive(id)),
        invalidate: [...WORKSPACES, ...PROJECTS],
      }),
    toggleProject: ({ id, name, archived }: Project) =>
      act({
        label: `${archived ? "Unarchived" : "Archived"} ${name}`,
        run: () => (archived ? unshelve(id) : shelve(id)),
        undo: () => (archived ? shelve(id) : unshelve(id)),
        invalidate: PROJECTS,
      }),
    deleteWorkspace: ({ id, name }: Workspace) =>
      act({
        label: `Deleted ${name}`,
        run: () => call("deleteWorkspace", { path: { workspace_id: id } }),
        invalidate: WORKSPACES,
      }),
    deleteProject: ({ id, name }: Project) =>
      act({
        label: `Deleted ${name}`,
        run: () => call("deleteProject", { path: { project_id: id } }),
        invalidate: PROJECTS,
      }),
  };
}

/** These reject with the master's words, for the dialog that asked for the name. */
async function createWorkspace(name: string): Promise<void> {
  const { workspace } = await call("createWorkspace", { body: { name } });
  await refresh(WORKSPACES, `Created workspace ${name}`);
  navigate(`/workspaces/${workspace.id}`);
}

async function createProject(workspaceId: number, name: string, description: string): Promise<void> {
  const body = { name, description, workspaceId };
  const { project } = await call("createProject", {
    path: { workspace_id: workspaceId },
    body,
  });
  await refresh([...PROJECTS, ...WORKSPACES], `Created project ${name}`);
  navigate(`/projects/${project.id}/runs`);
}

async function renameWorkspace(id: number, name: string): Promise<void> {
  await call("patchWorkspace", { path: { workspace_id: id }, body: { name } });
  await refresh(WORKSPACES, `Renamed to ${name}`);
}

async function editProject(id: number, name: string, description: string): Promise<void> {
  await call("patchProject", { path: { project_id: id }, body: { name, description } });
  await refresh(PROJECTS, `Saved ${name}`);
}

async function refresh(operations: readonly (keyof Operations)[], words: string): Promise<void> {
  await Promise.all(operations.map((op) => queryClient.invalidateQueries({ queryKey: [op] })));
  toast({ text: words });
}
