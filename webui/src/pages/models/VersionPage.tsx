// One version of a model: where it comes from, who used it, how to load it, its metrics, texts and files.
import { useActionCommands } from "../../actions/useActionCommands";
import { call } from "../../api/client";
import { useLive } from "../../api/live";
import { useApi } from "../../api/useApi";
import { CheckpointFiles } from "../../detail/CheckpointFiles";
import css from "../../detail/detail.module.css";
import { Facts } from "../../detail/Facts";
import { Card } from "../../ui/Card";
import { DataTable } from "../../ui/DataTable";
import { ErrorCard } from "../../ui/ErrorCard";
import { ago, metricNumber } from "../../ui/format";
import { Menu } from "../../ui/Menu";
import { Page } from "../../ui/Page";
import { Skeleton } from "../../ui/Skeleton";
import { LabelsEditor } from "./LabelsEditor";
import { Lineage } from "./Lineage";
import { LoadSnippet } from "./LoadSnippet";
import { MetadataCard } from "./MetadataCard";
import own from "./models.module.css";
import { NotesCard } from "./NotesCard";
import { metricsOf, referenceOf } from "./snippet";
import { useVersionActions, VERSION, type Version } from "./useVersionActions";

export default function VersionPage({ id, version }: { id: string; version: string }) {
  useLive({ models: "all", modelversions: "all" });
  const found = useApi("getModelVersion", { path: { model_name: id, version } });
  if (found.data && !found.error) return <Loaded version={found.data.modelVersion} />;
  return (
    <Page title={`Version ${version}`} crumbs={crumbsOf(id, id)}>
      {found.error ? <ErrorCard error={found.error} onRetry={found.refetch} /> : <Skeleton rows={6} />}
    </Page>
  );
}

function Loaded({ version }: { version: Version }) {
  const { model } = version;
  const { experimentId } = version.checkpoint.training;
  const experiment = useApi(
    "getExperiment",
    { path: { experiment_id: experimentId ?? 0 } },
    { enabled: typeof experimentId === "number" },
  ).data?.experiment;
  const { actions, dialog } = useVersionActions(version, experiment?.userId ?? undefined);
  useActionCommands(actions, `version ${version.version}`);
  return (
    <Page
      title={version.name || `Version ${version.version}`}
      crumbs={crumbsOf(String(model.id), model.name)}
      actions={<Menu label="Actions" items={actions} />}
    >
      <div className={css["stack"]}>
        {model.archived && (
          <p role="status" className={own["archived"]}>
            Its model is archived: it takes no new versions, and no alias can be moved. Name, comment, labels, notes and
            metadata of this version can still be changed.
          </p>
        )}
        <About version={version} />
        <Lineage version={version} experiment={experiment} />
        <LoadSnippet name={referenceOf(model)} version={version.version} />
        <Metrics version={version} />
        <Texts key={version.id} version={version} />
        <Card title="Checkpoint">
          <CheckpointFiles checkpoint={version.checkpoint} />
        </Card>
      </div>
      {dialog}
    </Page>
  );
}

function About({ version }: { version: Version }) {
  const path = pathOf(version);
  return (
    <>
      {version.comment && <p className={own["description"]}>{version.comment}</p>}
      <Facts
        facts={[
          { name: "Number", value: version.version },
          { name: "Aliases", value: (version.aliases ?? []).join(", ") || "none" },
          { name: "Registered", value: ago(version.creationTime) },
          version.username ? { name: "By", value: version.username } : null,
        ]}
      />
      <LabelsEditor
        key={version.id}
        what={`version ${version.version}`}
        labels={version.labels ?? []}
        write={(labels) => call("patchModelVersion", { path, body: { labels } })}
        invalidate={VERSION}
      />
    </>
  );
}

function Metrics({ version }: { version: Version }) {
  const metrics = metricsOf(version.checkpoint.training);
  if (metrics.length === 0) return null;
  return (
    <Card title="Metrics">
      <DataTable
        caption="Metrics"
        hidesCaption
        rows={metrics}
        rowKey={(row) => row.name}
        columns={[
          { key: "name", label: "Metric" },
          { key: "value", label: "Value", align: "right", render: (row) => shownValue(row.value) },
        ]}
      />
    </Card>
  );
}

function Texts({ version }: { version: Version }) {
  const path = pathOf(version);
  const what = `version ${version.version} of model ${version.model.id}`;
  return (
    <>
      <NotesCard
        what={what}
        notes={version.notes ?? ""}
        write={(notes, expectedNotes) => call("patchModelVersion", { path, body: { notes, expectedNotes } })}
        invalidate={VERSION}
      />
      <MetadataCard
        what={what}
        metadata={version.metadata ?? {}}
        read={async () => (await call("getModelVersion", { path })).modelVersion.metadata ?? {}}
        write={(metadata) => call("patchModelVersion", { path, body: { metadata } })}
        invalidate={VERSION}
      />
    </>
  );
}

function pathOf({ model, version }: Version) {
  return { model_name: String(model.id), version: String(version) };
}

function crumbsOf(id: string, name: string) {
  return [
    { label: "Models", href: "/models" },
    { label: name, href: `/models/${id}` },
  ];
}

function shownValue(value: unknown): string {
  return typeof value === "number" || typeof value === "string" ? metricNumber(value) : JSON.stringify(value);
}
