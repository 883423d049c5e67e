// The projects of a workspace: find, create, edit, archive, delete.
import { Ellipsis } from "lucide-react";
import { useState } from "react";
import type { Schemas } from "../../api/schema";
import { useSession } from "../../api/session";
import { useApi } from "../../api/useApi";
import { Button } from "../../ui/Button";
import { DataTable } from "../../ui/DataTable";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { ago, count } from "../../ui/format";
import { Menu } from "../../ui/Menu";
import { SearchField } from "../../ui/SearchField";
import { Skeleton } from "../../ui/Skeleton";
import { Switch } from "../../ui/Switch";
import { Tag } from "../../ui/Tag";
import { useConfirm } from "../../ui/useConfirm";
import { Link } from "../../url";
import { flag, text } from "../../url/codecs";
import { useUrlState } from "../../url/useUrlState";
import { NameDialog } from "./NameDialog";
import { useWorkspaceActions } from "./useWorkspaceActions";
import css from "./workspaces.module.css";

type Project = Schemas["Project"];

export function Projects({ workspace }: { workspace: Schemas["Workspace"] }) {
  const [query, setQuery] = useUrlState("q", text, "");
  const [showsArchived, setShowsArchived] = useUrlState("archived", flag, false);
  const [isNew, setNew] = useState(false);
  const { createProject } = useWorkspaceActions();
  const projects = useApi(
    "listProjects",
    {
      path: { workspace_id: workspace.id },
      query: { name: query || undefined, archived: showsArchived ? undefined : false, limit: 500 },
    },
    { keepPrevious: true, refetchInterval: 60_000 },
  );
  const rows = projects.data?.projects ?? [];
  return (
    <>
      <div className={css["bar"]}>
        <SearchField label="Find a project" value={query} onChange={setQuery} />
        <Switch isSelected={showsArchived} onChange={setShowsArchived}>
          Show archived
        </Switch>
        <Button kind="primary" isDisabled={workspace.archived || workspace.immutable} onPress={() => setNew(true)}>
          New project
        </Button>
      </div>
      {projects.error && <ErrorCard error={projects.error} onRetry={projects.refetch} />}
      {projects.isPending && <Skeleton rows={5} />}
      {projects.data && rows.length === 0 && (
        <Empty title={query ? "No project matches" : "No projects yet"}>
          A project holds experiments that belong together.
        </Empty>
      )}
      {rows.length > 0 && <ProjectTable projects={rows} />}
      {isNew && (
        <NameDialog
          title={`New project in ${workspace.name}`}
          verb="Create"
          description=""
          onSave={(name, description) => createProject(workspace.id, name, description)}
          onClose={() => setNew(false)}
        />
      )}
    </>
  );
}

function ProjectTable({ projects }: { projects: readonly Project[] }) {
  return (
    <DataTable
      caption="Projects"
      hidesCaption
      rows={projects}
      rowKey={(row) => row.id}
      columns={[
        {
          key: "name",
          label: "Name",
          render: (row) => (
            <span className={css["name"]}>
              <Link href={`/projects/${row.id}/runs`}>{row.name}</Link>
              {row.archived && <Tag text="archived" />}
              {row.description && <span className={css["muted"]}>{row.description}</span>}
            </span>
          ),
        },
        { key: "numExperiments", label: "Experiments", align: "right", render: (row) => count(row.numExperiments) },
        {
          key: "numActiveExperiments",
          label: "Active",
          align: "right",
          render: (row) => count(row.numActiveExperiments),
        },
        { key: "last", label: "Last started", render: (row) => ago(row.lastExperimentStartedAt) },
        { key: "username", label: "Owner" },
        {
          key: "act",
          label: <span className="visually-hidden">Actions</span>,
          align: "right",
          render: (row) => <ProjectMenu project={row} />,
        },
      ]}
    />
  );
}

function ProjectMenu({ project }: { project: Project }) {
  const [isEditing, setEditing] = useState(false);
  const { permissions } = useSession();
  const { confirmDelete } = useConfirm();
  const actions = useWorkspaceActions();
  const isFixed = project.immutable || !permissions.mayChange(project.userId);
  const remove = async () => {
    if (await confirmDelete(`project ${project.name}`)) await actions.deleteProject(project);
  };
  return (
    <>
      <Menu
        label={`Actions on ${project.name}`}
        icon={<Ellipsis size={16} aria-hidden="true" />}
        items={[
          { id: "edit", label: "Edit", isDisabled: isFixed, onAction: () => setEditing(true) },
          {
            id: "archive",
            label: project.archived ? "Unarchive" : "Archive",
            isDisabled: isFixed,
            onAction: () => void actions.toggleProject(project),
          },
          { id: "delete", label: "Delete", danger: true, isDisabled: isFixed, onAction: () => void remove() },
        ]}
      />
      {isEditing && (
        <NameDialog
          title="Edit project"
          verb="Save"
          name={project.name}
          description={project.description ?? ""}
          onSave={(name, description) => actions.editProject(project.id, name, description)}
          onClose={() => setEditing(false)}
        />
      )}
    </>
  );
}
