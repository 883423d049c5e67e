// One model: its versions, its aliases with their history, notes and metadata.
import { useState } from "react";
import { call } from "../../api/client";
import { useLive } from "../../api/live";
import type { Schemas } from "../../api/schema";
import { useAct, useApi } from "../../api/useApi";
import css from "../../detail/detail.module.css";
import { Facts } from "../../detail/Facts";
import { Button } from "../../ui/Button";
import { Card } from "../../ui/Card";
import { CopyCommand } from "../../ui/CopyCommand";
import { DataTable } from "../../ui/DataTable";
import { ErrorCard } from "../../ui/ErrorCard";
import { ago, jsonText, metricNumber } from "../../ui/format";
import { Markdown } from "../../ui/Markdown";
import { Page } from "../../ui/Page";
import { Select } from "../../ui/Select";
import { Skeleton } from "../../ui/Skeleton";
import { TagsEditor } from "../../ui/TagsEditor";
import { TextField } from "../../ui/TextField";
import { Link } from "../../url";
import { ArchiveButton } from "./ModelsPage";

type Model = Schemas["Model"];
type Version = Schemas["ModelVersion"];

const CRUMBS = [{ label: "Models", href: "/models" }];
const ALIASES = ["listModelAliases", "listModelAliasHistory", "getModel", "listModels", "listModelVersions"] as const;

export default function ModelPage({ id }: { id: string }) {
  useLive({ models: "all", modelversions: "all" });
  const path = { model_name: id };
  const found = useApi("listModelVersions", {
    path,
    query: { limit: 500, sortBy: "SORT_BY_VERSION", orderBy: "ORDER_BY_DESC" },
  });
  const single = useApi("getModel", { path });
  const model = single.data?.model;
  const error = single.error ?? found.error;
  return (
    <Page title={model?.name ?? `Model ${id}`} crumbs={CRUMBS} actions={model && <ArchiveButton model={model} />}>
      {error && <ErrorCard error={error} onRetry={() => Promise.all([found.refetch(), single.refetch()])} />}
      {!error && (!model || !found.data) && <Skeleton rows={6} />}
      {model && found.data && <Body model={model} versions={found.data.modelVersions} />}
    </Page>
  );
}

function Body({ model, versions }: { model: Model; versions: readonly Version[] }) {
  const act = useAct();
  const setLabels = (labels: string[]) =>
    act({
      label: `Changed the labels of ${model.name}`,
      run: () => call("patchModel", { path: { model_name: String(model.id) }, body: { labels } }),
      invalidate: ["getModel", "listModels"],
    });
  return (
    <div className={css["stack"]}>
      {model.description && <p>{model.description}</p>}
      <Facts
        facts={[
          { name: "Workspace", value: model.workspaceName ?? model.workspaceId },
          { name: "Owner", value: model.username },
          { name: "Changed", value: ago(model.lastUpdatedTime) },
          model.archived ? { name: "State", value: "archived" } : null,
        ]}
      />
      <TagsEditor tags={model.labels ?? []} onChange={(tags) => void setLabels(tags)} isDisabled={model.archived} />
      <Card title="Versions">
        {versions.length === 0 ? (
          <CopyCommand text={`det model register-version ${model.id} UUID`} />
        ) : (
          <Versions model={model} versions={versions} />
        )}
      </Card>
      <Aliases model={model} versions={versions} />
      {model.notes && (
        <Card title="Notes">
          <Markdown text={model.notes} />
        </Card>
      )}
      <Card title="Metadata">
        <pre className={css["json"]}>{jsonText(model.metadata)}</pre>
      </Card>
    </div>
  );
}

function Versions({ model, versions }: { model: Model; versions: readonly Version[] }) {
  return (
    <DataTable
      caption="Versions"
      hidesCaption
      rows={versions}
      rowKey={(row) => row.version}
      columns={[
        {
          key: "version",
          label: "Version",
          render: (row) => (
            <Link href={`/models/${model.id}/versions/${row.version}`}>{row.name || `Version ${row.version}`}</Link>
          ),
        },
        { key: "number", label: "Number", align: "right", render: (row) => row.version },
        { key: "aliases", label: "Aliases", render: (row) => (row.aliases ?? []).join(", ") },
        {
          key: "metric",
          label: "Searcher metric",
          align: "right",
          render: (row) => metricNumber(row.checkpoint.training.searcherMetric),
        },
        { key: "trial", label: "Trial", isMinor: true, render: (row) => row.checkpoint.training.trialId ?? "" },
        { key: "created", label: "Registered", isMinor: true, render: (row) => ago(row.creationTime) },
        { key: "username", label: "By", isMinor: true },
      ]}
    />
  );
}

function Aliases({ model, versions }: { model: Model; versions: readonly Version[] }) {
  const path = { model_name: String(model.id) };
  const history = useApi(
    "listModelAliasHistory",
    { path, query: { limit: 50, orderBy: "ORDER_BY_DESC" } },
    { refetchInterval: 60_000 },
  );
  const changes = history.data?.changes ?? [];
  return (
    <Card title="Aliases">
      {history.error && <ErrorCard error={history.error} onRetry={history.refetch} />}
      {!model.archived && versions.length > 0 && <AliasForm model={model} versions={versions} />}
      {changes.length > 0 && (
        <DataTable
          caption="History of aliases, newest first"
          rows={changes}
          rowKey={(row) => row.id}
          columns={[
            { key: "alias", label: "Alias" },
            { key: "from", label: "From", render: (row) => row.previousVersion ?? "new" },
            { key: "to", label: "To", render: (row) => row.version ?? "removed" },
            { key: "username", label: "By" },
            { key: "time", label: "When", render: (row) => ago(row.time) },
          ]}
        />
      )}
    </Card>
  );
}

/** Points an alias to a version; refused when somebody else has moved it since this page was read. */
function AliasForm({ model, versions }: { model: Model; versions: readonly Version[] }) {
  const [alias, setAlias] = useState("production");
  const [to, setTo] = useState(String(versions[0]?.version ?? ""));
  const act = useAct();
  const expectedVersion = model.aliases?.[alias.trim()] ?? 0;
  const set = () =>
    act({
      label: `${model.name}:${alias.trim()} is now version ${to}`,
      run: () =>
        call("putModelAlias", {
          path: { model_name: String(model.id), alias: alias.trim() },
          body: { version: Number(to), expectedVersion },
        }),
      invalidate: [...ALIASES],
    });
  return (
    <div className={css["controls"]}>
      <TextField label="Alias" value={alias} onChange={setAlias} />
      <Select
        label="Version"
        value={to}
        options={versions.map(({ version }) => ({ id: String(version), label: String(version) }))}
        onChange={setTo}
      />
      <Button isDisabled={alias.trim() === ""} onPress={() => void set()}>
        {expectedVersion > 0 ? "Move alias" : "Set alias"}
      </Button>
    </div>
  );
}
