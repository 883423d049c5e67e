// One version of a model: where it comes from, who used it, its metrics and files, and how to load it.
import { useLive } from "../../api/live";
import type { Schemas } from "../../api/schema";
import { useApi } from "../../api/useApi";
import { CheckpointFiles } from "../../detail/CheckpointFiles";
import css from "../../detail/detail.module.css";
import { Facts } from "../../detail/Facts";
import { Card } from "../../ui/Card";
import { CopyCommand } from "../../ui/CopyCommand";
import { DataTable } from "../../ui/DataTable";
import { ErrorCard } from "../../ui/ErrorCard";
import { ago, metricNumber } from "../../ui/format";
import { Markdown } from "../../ui/Markdown";
import { Page } from "../../ui/Page";
import { Skeleton } from "../../ui/Skeleton";
import { Tag } from "../../ui/Tag";
import { Link } from "../../url";
import { downloadCommand, metricsOf, pythonSnippet, referenceOf } from "./snippet";

type Version = Schemas["ModelVersion"];

export default function VersionPage({ id, version }: { id: string; version: string }) {
  useLive({ models: "all", modelversions: "all" });
  const found = useApi("getModelVersion", { path: { model_name: id, version } });
  const shown = found.data?.modelVersion;
  const crumbs = [
    { label: "Models", href: "/models" },
    { label: shown?.model.name ?? id, href: `/models/${id}` },
  ];
  return (
    <Page title={shown?.name || `Version ${version}`} crumbs={crumbs}>
      {found.error && <ErrorCard error={found.error} onRetry={found.refetch} />}
      {found.isPending && <Skeleton rows={6} />}
      {shown && <Body version={shown} />}
    </Page>
  );
}

function Body({ version }: { version: Version }) {
  const metrics = metricsOf(version.checkpoint.training);
  const name = referenceOf(version.model);
  const { origin } = window.location;
  return (
    <div className={css["stack"]}>
      <Facts
        facts={[
          { name: "Number", value: version.version },
          { name: "Registered", value: ago(version.creationTime) },
          version.username ? { name: "By", value: version.username } : null,
        ]}
      />
      <span className={css["acts"]}>
        {[...(version.aliases ?? []), ...(version.labels ?? [])].map((label) => (
          <Tag key={label} text={label} />
        ))}
      </span>
      <Lineage version={version} />
      <Card title="Load it">
        <CopyCommand text={downloadCommand(origin, name, version.version)} />
        <CopyCommand text={pythonSnippet(origin, name, version.version)} />
      </Card>
      {metrics.length > 0 && (
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
      )}
      {version.notes && (
        <Card title="Notes">
          <Markdown text={version.notes} />
        </Card>
      )}
      <Card title="Checkpoint">
        <CheckpointFiles checkpoint={version.checkpoint} />
      </Card>
    </div>
  );
}

/** Experiment, checkpoint, version, and the trials that used it, in this order. */
function Lineage({ version }: { version: Version }) {
  const path = { model_name: String(version.model.id), version: String(version.version) };
  const users = useApi("listTrialsUsingVersion", { path }, { refetchInterval: 60_000 });
  const trials = users.data?.trials ?? [];
  const { experimentId, trialId } = version.checkpoint.training;
  return (
    <Card title="Lineage">
      {users.error && <ErrorCard error={users.error} onRetry={users.refetch} />}
      <ol className={css["strip"]} aria-label="Lineage">
        {experimentId && (
          <li className={css["slot"]}>
            <Link href={`/experiments/${experimentId}/trials/${trialId}`}>Experiment {experimentId}</Link>
          </li>
        )}
        <li className={css["slot"]}>
          <span>
            Checkpoint <code>{version.checkpoint.uuid.slice(0, 8)}</code>
          </span>
        </li>
        <li className={css["slot"]}>Version {version.version}</li>
        {trials.map((trial) => (
          <li key={trial.trialId} className={css["slot"]}>
            <Link href={`/experiments/${trial.experimentId}/trials/${trial.trialId}`}>
              Used by trial {trial.trialId}
            </Link>
          </li>
        ))}
      </ol>
    </Card>
  );
}

function shownValue(value: unknown): string {
  return typeof value === "number" || typeof value === "string" ? metricNumber(value) : JSON.stringify(value);
}
