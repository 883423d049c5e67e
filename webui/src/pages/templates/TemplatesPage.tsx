// All templates: find, filter by workspace, open, rename, move, delete.
import type { Schemas } from "../../api/schema";
import { useApi } from "../../api/useApi";
import { WorkspaceSelect } from "../../detail/WorkspaceSelect";
import { Button } from "../../ui/Button";
import { CopyCommand } from "../../ui/CopyCommand";
import { DataTable } from "../../ui/DataTable";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { ago } from "../../ui/format";
import { Page } from "../../ui/Page";
import { SearchField } from "../../ui/SearchField";
import { Skeleton } from "../../ui/Skeleton";
import { int, Link, navigate, text, useUrlState } from "../../url";
import { pathOf, sectionsOf } from "./fields";
import { TemplateMenu } from "./TemplateMenu";
import css from "./templates.module.css";

export default function TemplatesPage() {
  const [query, setQuery] = useUrlState("q", text, "");
  const [workspace, setWorkspace] = useUrlState("workspace", int, 0);
  const templates = useApi(
    "listTemplates",
    { query: { name: query || undefined, workspaceIds: workspace > 0 ? [workspace] : undefined, limit: 500 } },
    { keepPrevious: true, refetchInterval: 60_000 },
  );
  const rows = templates.data?.templates ?? [];
  const isFiltered = query !== "" || workspace > 0;
  const create = () => navigate(workspace > 0 ? `/templates/create?workspace=${workspace}` : "/templates/create");
  return (
    <Page
      title="Templates"
      actions={
        <Button kind="primary" onPress={create}>
          New template
        </Button>
      }
    >
      <div className={css["bar"]}>
        <SearchField label="Find a template" value={query} onChange={setQuery} />
        <WorkspaceSelect value={workspace} onChange={setWorkspace} none="all workspaces" />
      </div>
      {templates.error && <ErrorCard error={templates.error} onRetry={templates.refetch} />}
      {templates.isPending && <Skeleton rows={6} />}
      {templates.data && rows.length === 0 && (isFiltered ? <NoMatch /> : <NoneYet />)}
      {rows.length > 0 && <TemplateTable templates={rows} />}
    </Page>
  );
}

function NoMatch() {
  return (
    <Empty title="No template matches">
      <Link href="/templates">Show all</Link>
    </Empty>
  );
}

function NoneYet() {
  return (
    <Empty title="No templates yet">
      <p>
        A template holds parts of a configuration that many experiments and tasks share: an image, variables, mounts, a
        storage.
      </p>
      <CopyCommand text="det template create NAME template.yaml" />
    </Empty>
  );
}

function TemplateTable({ templates }: { templates: readonly Schemas["Template"][] }) {
  const workspaces = useApi("listWorkspaces", { query: { limit: 1000 } }, { staleTime: 60_000 });
  const names = new Map((workspaces.data?.workspaces ?? []).map((one) => [one.id, one.name]));
  return (
    <DataTable
      caption="Templates"
      hidesCaption
      rows={templates}
      rowKey={(row) => row.name}
      columns={[
        { key: "name", label: "Name", render: (row) => <Name name={row.name} /> },
        { key: "workspace", label: "Workspace", render: (row) => names.get(row.workspaceId) ?? row.workspaceId },
        { key: "config", label: "Sets", isMinor: true, render: (row) => sectionsOf(row.config) },
        { key: "updatedAt", label: "Changed", isMinor: true, render: (row) => ago(row.updatedAt) },
        { key: "username", label: "Owner", isMinor: true },
        {
          key: "act",
          label: <span className="visually-hidden">Actions</span>,
          align: "right",
          render: (row) => <TemplateMenu template={row} />,
        },
      ]}
    />
  );
}

function Name({ name }: { name: string }) {
  return (
    <Link className={css["name"]} href={pathOf(name)}>
      {name}
    </Link>
  );
}
