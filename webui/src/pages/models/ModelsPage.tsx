// All models of the registry: find, sort, filter by workspace, archive.
import { call } from "../../api/client";
import { useLive } from "../../api/live";
import type { Schemas } from "../../api/schema";
import { useAct, useApi } from "../../api/useApi";
import css from "../../detail/detail.module.css";
import { WorkspaceSelect } from "../../detail/WorkspaceSelect";
import { Button } from "../../ui/Button";
import { CopyCommand } from "../../ui/CopyCommand";
import { DataTable } from "../../ui/DataTable";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { ago } from "../../ui/format";
import { Page } from "../../ui/Page";
import { SearchField } from "../../ui/SearchField";
import { Select } from "../../ui/Select";
import { Skeleton } from "../../ui/Skeleton";
import { Switch } from "../../ui/Switch";
import { flag, int, Link, oneOf, text, useUrlState } from "../../url";

type Model = Schemas["Model"];

const SORTS = [
  { id: "SORT_BY_LAST_UPDATED_TIME", label: "Changed last" },
  { id: "SORT_BY_NAME", label: "Name" },
  { id: "SORT_BY_NUM_VERSIONS", label: "Most versions" },
] as const;
const SORT = oneOf(...SORTS.map((one) => one.id));

export default function ModelsPage() {
  const [query, setQuery] = useUrlState("q", text, "");
  const [workspace, setWorkspace] = useUrlState("workspace", int, 0);
  const [showsArchived, setShowsArchived] = useUrlState("archived", flag, false);
  const [sort, setSort] = useUrlState("sort", SORT, "SORT_BY_LAST_UPDATED_TIME");
  useLive({ models: "all", modelversions: "all" });
  const models = useApi(
    "listModels",
    {
      query: {
        name: query || undefined,
        workspaceIds: workspace > 0 ? [workspace] : undefined,
        archived: showsArchived ? undefined : false,
        sortBy: sort,
        orderBy: sort === "SORT_BY_NAME" ? "ORDER_BY_ASC" : "ORDER_BY_DESC",
        limit: 500,
      },
    },
    { keepPrevious: true },
  );
  const rows = models.data?.models ?? [];
  const none = showsArchived ? "No models yet" : "No models in use";
  return (
    <Page title="Models">
      <div className={css["controls"]}>
        <SearchField label="Find a model" value={query} onChange={setQuery} />
        <WorkspaceSelect value={workspace} onChange={setWorkspace} none="all workspaces" />
        <Select
          label="Order"
          value={sort}
          options={[...SORTS]}
          onChange={(id) => setSort(SORT.parse(id) ?? "SORT_BY_LAST_UPDATED_TIME")}
        />
        <Switch isSelected={showsArchived} onChange={setShowsArchived}>
          Show archived ones
        </Switch>
      </div>
      {models.error && <ErrorCard error={models.error} onRetry={models.refetch} />}
      {models.isPending && <Skeleton rows={6} />}
      {models.data && rows.length === 0 && (
        <Empty title={query || workspace > 0 ? "No model matches" : none}>
          <p>A model is a name for checkpoints that belong together. Create one, and register a checkpoint:</p>
          <CopyCommand text="det model create NAME" />
          <CopyCommand text="det model register-version NAME UUID" />
        </Empty>
      )}
      {rows.length > 0 && <ModelTable models={rows} />}
    </Page>
  );
}

function ModelTable({ models }: { models: readonly Model[] }) {
  return (
    <DataTable
      caption="Models"
      hidesCaption
      rows={models}
      rowKey={(row) => row.id}
      columns={[
        { key: "name", label: "Name", render: (row) => <Link href={`/models/${row.id}`}>{row.name}</Link> },
        { key: "numVersions", label: "Versions", align: "right" },
        { key: "aliases", label: "Aliases", isMinor: true, render: aliasesOf },
        { key: "workspaceName", label: "Workspace", isMinor: true },
        { key: "updated", label: "Changed", isMinor: true, render: (row) => ago(row.lastUpdatedTime) },
        { key: "username", label: "Owner", isMinor: true },
        { key: "act", label: "Actions", align: "right", render: (row) => <ArchiveButton model={row} /> },
      ]}
    />
  );
}

export function ArchiveButton({ model }: { model: Model }) {
  const act = useAct();
  const path = { model_name: String(model.id) };
  const archive = () => call("archiveModel", { path });
  const unarchive = () => call("unarchiveModel", { path });
  const press = () =>
    act({
      label: `${model.archived ? "Unarchived" : "Archived"} ${model.name}`,
      run: model.archived ? unarchive : archive,
      undo: model.archived ? archive : unarchive,
      invalidate: ["listModels", "getModel"],
    });
  const verb = model.archived ? "Unarchive" : "Archive";
  return (
    <Button onPress={() => void press()} aria-label={`${verb} ${model.name}`}>
      {verb}
    </Button>
  );
}

function aliasesOf(model: Model): string {
  return Object.entries(model.aliases ?? {})
    .map(([alias, version]) => `${alias} → ${version}`)
    .join(", ");
}
