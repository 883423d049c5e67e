// All workspaces: find, show archived, pin, create, archive.
import { useState } from "react";
import type { Schemas } from "../../api/schema";
import { useApi } from "../../api/useApi";
import { Button } from "../../ui/Button";
import { DataTable } from "../../ui/DataTable";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { count } from "../../ui/format";
import { Page } from "../../ui/Page";
import { SearchField } from "../../ui/SearchField";
import { Skeleton } from "../../ui/Skeleton";
import { Switch } from "../../ui/Switch";
import { Tag } from "../../ui/Tag";
import { Link } from "../../url";
import { flag, text } from "../../url/codecs";
import { useUrlState } from "../../url/useUrlState";
import { NameDialog } from "./NameDialog";
import { useWorkspaceActions } from "./useWorkspaceActions";
import { WorkspaceMenu } from "./WorkspaceMenu";
import css from "./workspaces.module.css";

export default function WorkspacesPage() {
  const [query, setQuery] = useUrlState("q", text, "");
  const [showsArchived, setShowsArchived] = useUrlState("archived", flag, false);
  const [isNew, setNew] = useState(false);
  const { createWorkspace } = useWorkspaceActions();
  const workspaces = useApi(
    "listWorkspaces",
    {
      query: {
        name: query || undefined,
        archived: showsArchived ? undefined : false,
        sortBy: "SORT_BY_NAME",
        limit: 500,
      },
    },
    { keepPrevious: true, refetchInterval: 60_000 },
  );
  const rows = workspaces.data?.workspaces ?? [];
  return (
    <Page
      title="Workspaces"
      actions={
        <Button kind="primary" onPress={() => setNew(true)}>
          New workspace
        </Button>
      }
    >
      <div className={css["bar"]}>
        <SearchField label="Find a workspace" value={query} onChange={setQuery} />
        <Switch isSelected={showsArchived} onChange={setShowsArchived}>
          Show archived
        </Switch>
      </div>
      {workspaces.error && <ErrorCard error={workspaces.error} onRetry={workspaces.refetch} />}
      {workspaces.isPending && <Skeleton rows={6} />}
      {workspaces.data && rows.length === 0 && (
        <Empty title="No workspace matches">
          <Button onPress={() => setQuery("")}>Show all</Button>
        </Empty>
      )}
      {rows.length > 0 && <WorkspaceTable workspaces={rows} />}
      {isNew && (
        <NameDialog title="New workspace" verb="Create" onSave={createWorkspace} onClose={() => setNew(false)} />
      )}
    </Page>
  );
}

function WorkspaceTable({ workspaces }: { workspaces: readonly Schemas["Workspace"][] }) {
  return (
    <DataTable
      caption="Workspaces"
      hidesCaption
      rows={workspaces.toSorted((a, b) => Number(b.pinned) - Number(a.pinned))}
      rowKey={(row) => row.id}
      columns={[
        { key: "name", label: "Name", render: (row) => <Name workspace={row} /> },
        { key: "numProjects", label: "Projects", align: "right", render: (row) => count(row.numProjects) },
        { key: "numExperiments", label: "Experiments", align: "right", render: (row) => count(row.numExperiments) },
        { key: "username", label: "Owner" },
        {
          key: "act",
          label: <span className="visually-hidden">Actions</span>,
          align: "right",
          render: (row) => <WorkspaceMenu workspace={row} />,
        },
      ]}
    />
  );
}

function Name({ workspace }: { workspace: Schemas["Workspace"] }) {
  return (
    <span className={css["name"]}>
      <Link href={`/workspaces/${workspace.id}`}>{workspace.name}</Link>
      {workspace.pinned && <Tag text="pinned" />}
      {workspace.archived && <Tag text="archived" />}
    </span>
  );
}
