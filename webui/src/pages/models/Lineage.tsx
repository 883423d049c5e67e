// The lineage of a version, drawn: data, experiment, checkpoint, version, and the trials that used it. A list beside it.
import type { Schemas } from "../../api/schema";
import { useApi } from "../../api/useApi";
import { Card } from "../../ui/Card";
import { cx } from "../../ui/cx";
import { ErrorCard } from "../../ui/ErrorCard";
import { Link } from "../../url";
import { type LineageBox, type LineageStage, lineageOf } from "./lineage";
import css from "./lineage.module.css";

type Version = Schemas["ModelVersion"];

/** Uses are not streamed. */
const USES_MS = 15_000;

interface LineageProps {
  version: Version;
  experiment: Schemas["Experiment"] | undefined;
}

export function Lineage({ version, experiment }: LineageProps) {
  const { uuid, training, metadata } = version.checkpoint;
  const path = { checkpoint_uuid: uuid };
  const uses = useApi("listTrialsUsingCheckpoint", { path }, { refetchInterval: USES_MS });
  const registered = useApi("listCheckpointVersions", { path });
  const batches = metadata["steps_completed"];
  const stages = lineageOf({
    current: version,
    checkpoint: { uuid, batches: typeof batches === "number" ? batches : null },
    experimentId: training.experimentId ?? null,
    trialId: training.trialId ?? null,
    experimentName: experiment?.name ?? null,
    config: training.experimentConfig ?? {},
    uses: uses.data?.trials ?? [],
  });
  const siblings = (registered.data?.modelVersions ?? []).filter(({ id }) => id !== version.id);
  const error = uses.error ?? registered.error;
  return (
    <Card title="Lineage">
      {error && <ErrorCard error={error} onRetry={() => Promise.all([uses.refetch(), registered.refetch()])} />}
      <Picture stages={stages} />
      {uses.data?.trials.length === 0 && <p className={css["muted"]}>No trial has said that it uses this version.</p>}
      {siblings.length > 0 && <Siblings versions={siblings} />}
      <details>
        <summary className={css["twin"]}>As a list</summary>
        <Twin stages={stages} />
      </details>
    </Card>
  );
}

function Siblings({ versions }: { versions: readonly Version[] }) {
  return (
    <p>
      Its checkpoint is also registered as{" "}
      {versions.map(({ id, model, version }, at) => (
        <span key={id}>
          {at > 0 && ", "}
          <Link href={`/models/${model.id}/versions/${version}`}>
            <span>{model.name}</span> version {version}
          </Link>
        </span>
      ))}
      .
    </p>
  );
}

function Picture({ stages }: { stages: readonly LineageStage[] }) {
  return (
    <ol className={css["stages"]} aria-label="Lineage">
      {stages.map(({ kind, label, boxes, hidden }) => (
        <li key={kind} className={css["stage"]}>
          <span className={css["label"]}>{label}</span>
          <ul className={css["boxes"]}>
            {boxes.map((box) => (
              <li key={box.key} className={css["place"]}>
                <Box box={box} />
              </li>
            ))}
          </ul>
          {hidden.length > 0 && <span className={css["more"]}>and {hidden.length} more in the list</span>}
        </li>
      ))}
    </ol>
  );
}

function Box({ box }: { box: LineageBox }) {
  const words = (
    <>
      <span className={css["title"]}>{box.title}</span>
      {box.lines.map((line) => (
        <span key={line} className={css["line"]}>
          {line}
        </span>
      ))}
    </>
  );
  if (box.href === undefined || box.isCurrent)
    return <div className={cx(css["box"], box.isCurrent && css["current"])}>{words}</div>;
  return (
    <Link className={css["box"]} href={box.href}>
      {words}
    </Link>
  );
}

function Twin({ stages }: { stages: readonly LineageStage[] }) {
  return (
    <dl className={css["list"]}>
      {stages.map(({ kind, label, boxes, hidden }) => (
        <div key={kind}>
          <dt>{label}</dt>
          {[...boxes, ...hidden].map((box) => (
            <dd key={box.key}>
              {box.href === undefined ? <span>{box.title}</span> : <Link href={box.href}>{box.title}</Link>}
              {box.lines.map((line) => (
                <span key={line}> · {line}</span>
              ))}
            </dd>
          ))}
        </div>
      ))}
    </dl>
  );
}
