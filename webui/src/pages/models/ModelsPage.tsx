// All models of the registry: find, filter, sort, create, change.
import { useState } from "react";
import { useLive } from "../../api/live";
import { useApi } from "../../api/useApi";
import { Pager } from "../../detail/WorkloadTable";
import { NewModelDialog } from "../../registry/NewModelDialog";
import { Button } from "../../ui/Button";
import { CopyCommand } from "../../ui/CopyCommand";
import { DataTable } from "../../ui/DataTable";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { ago } from "../../ui/format";
import { Page } from "../../ui/Page";
import { Skeleton } from "../../ui/Skeleton";
import { Tag } from "../../ui/Tag";
import { Link, navigate } from "../../url";
import { ModelFilters, PAGE, useModelFilters } from "./ModelFilters";
import { ModelMenu } from "./ModelMenu";
import own from "./models.module.css";
import type { Model } from "./useModelActions";

export default function ModelsPage() {
  const filters = useModelFilters();
  const [isNew, setNew] = useState(false);
  useLive({ models: "all", modelversions: "all" });
  const models = useApi("listModels", { query: filters.query }, { keepPrevious: true });
  const rows = models.data?.models ?? [];
  const newModel = (
    <Button kind="primary" onPress={() => setNew(true)}>
      New model
    </Button>
  );
  return (
    <Page title="Models" actions={newModel}>
      <ModelFilters filters={filters} />
      {models.error && <ErrorCard error={models.error} onRetry={models.refetch} />}
      {models.isPending && <Skeleton rows={6} />}
      {models.data && rows.length === 0 && (filters.isFiltered ? <NoMatch /> : <None shown={filters.archived} />)}
      {rows.length > 0 && <ModelTable models={rows} />}
      <Pager
        offset={filters.offset}
        total={models.data?.pagination.total ?? rows.length}
        page={PAGE}
        onMove={filters.setOffset}
      />
      {isNew && (
        <NewModelDialog
          workspaceId={filters.workspace || 1}
          onMade={({ id }) => navigate(`/models/${id}`)}
          onClose={() => setNew(false)}
        />
      )}
    </Page>
  );
}

function NoMatch() {
  return (
    <Empty title="No model matches">
      <Link href="/models">Show all in use</Link>
    </Empty>
  );
}

function None({ shown }: { shown: "0" | "1" | "only" }) {
  if (shown === "only") return <Empty title="No archived models" />;
  return (
    <Empty title={shown === "1" ? "No models yet" : "No models in use"}>
      <p>
        A model is a name for checkpoints that belong together. Make one here, then press “Register…” beside a
        checkpoint of an experiment. The same by commands:
      </p>
      <CopyCommand text="det model create NAME" />
      <CopyCommand text="det model register-version NAME UUID" />
    </Empty>
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
        { key: "name", label: "Name", render: (row) => <Name model={row} /> },
        { key: "numVersions", label: "Versions", align: "right" },
        { key: "aliases", label: "Aliases", isMinor: true, render: aliasesOf },
        { key: "labels", label: "Labels", isMinor: true, render: (row) => <Labels labels={row.labels ?? []} /> },
        { key: "workspaceName", label: "Workspace", isMinor: true },
        { key: "updated", label: "Changed", isMinor: true, render: (row) => ago(row.lastUpdatedTime) },
        { key: "username", label: "Owner", isMinor: true },
        {
          key: "act",
          label: <span className="visually-hidden">Actions</span>,
          align: "right",
          render: (row) => <ModelMenu model={row} />,
        },
      ]}
    />
  );
}

function Name({ model }: { model: Model }) {
  return (
    <span className={own["name"]}>
      <Link href={`/models/${model.id}`}>{model.name}</Link>
      {model.archived && <Tag text="archived" />}
      {model.description && <span className={own["about"]}>{model.description}</span>}
    </span>
  );
}

function Labels({ labels }: { labels: readonly string[] }) {
  return (
    <span className={own["labels"]}>
      {labels.map((label) => (
        <Tag key={label} text={label} />
      ))}
    </span>
  );
}

function aliasesOf(model: Model): string {
  return Object.entries(model.aliases ?? {})
    .map(([alias, version]) => `${alias} → ${version}`)
    .join(", ");
}
