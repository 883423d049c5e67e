// One workspace: its projects and the resource pools it may use.
import { useApi } from "../../api/useApi";
import { ErrorCard } from "../../ui/ErrorCard";
import { Page } from "../../ui/Page";
import { Skeleton } from "../../ui/Skeleton";
import { TabLinks } from "../../ui/TabLinks";
import { Projects } from "./Projects";
import { WorkspaceMenu } from "./WorkspaceMenu";
import { WorkspacePools } from "./WorkspacePools";

export default function WorkspacePage({ id, tab = "projects" }: { id: string; tab?: string }) {
  const workspaceId = Number(id);
  const found = useApi("getWorkspace", { path: { workspace_id: workspaceId } });
  const workspace = found.data?.workspace;
  const crumbs = [{ label: "Workspaces", href: "/workspaces" }];
  if (found.error) {
    return (
      <Page title={`Workspace ${id}`} crumbs={crumbs}>
        <ErrorCard error={found.error} onRetry={found.refetch} />
      </Page>
    );
  }
  return (
    <Page
      title={workspace?.name ?? `Workspace ${id}`}
      crumbs={crumbs}
      actions={workspace && <WorkspaceMenu workspace={workspace} />}
    >
      <TabLinks
        current={tab}
        tabs={[
          { id: "projects", label: "Projects", href: `/workspaces/${id}/projects`, count: workspace?.numProjects },
          { id: "pools", label: "Resource pools", href: `/workspaces/${id}/pools` },
        ]}
      />
      {!workspace && <Skeleton rows={6} />}
      {workspace &&
        (tab === "pools" ? <WorkspacePools workspaceId={workspaceId} /> : <Projects workspace={workspace} />)}
    </Page>
  );
}
