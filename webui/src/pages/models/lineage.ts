// Where a version comes from and who uses it, as the stages of a picture from left to right. Pure.
import { isRecord } from "../../detail/plain";
import { straight } from "../../ui/format";

export type StageKind = "data" | "experiment" | "checkpoint" | "version" | "use";

export interface LineageBox {
  key: string;
  title: string;
  /** Shorter lines below the title. */
  lines: string[];
  href?: string | undefined;
  /** The version whose page this is. */
  isCurrent?: boolean;
}

export interface LineageStage {
  kind: StageKind;
  label: string;
  boxes: LineageBox[];
  /** Boxes that are left out of the picture; the list has them. */
  hidden: LineageBox[];
}

export interface LineageVersion {
  model: { id: number; name: string };
  version: number;
  name?: string | null | undefined;
  aliases?: readonly string[] | null | undefined;
}

export interface LineageUse {
  trialId: number;
  experimentId: number;
  experimentName: string;
  trialSourceInfoType: string;
  modelId?: number | null | undefined;
  modelVersion?: number | null | undefined;
}

export interface LineageFacts {
  current: LineageVersion;
  checkpoint: { uuid: string; batches: number | null };
  experimentId: number | null;
  trialId: number | null;
  experimentName: string | null;
  config: Readonly<Record<string, unknown>>;
  uses: readonly LineageUse[];
}

const MOST = 6;
const LONGEST = 60;

export function lineageOf(facts: LineageFacts): LineageStage[] {
  const stages = [
    stage("data", "Data", dataBoxes(facts)),
    stage("experiment", "Trained by", experimentBoxes(facts)),
    stage("checkpoint", "Checkpoint", [checkpointBox(facts)]),
    stage("version", "Registered as", [{ ...versionBox(facts.current), isCurrent: true }]),
    stage(
      "use",
      "Used by",
      facts.uses.map((use) => useBox(use, facts)),
    ),
  ];
  return stages.filter(({ boxes }) => boxes.length > 0);
}

/** What a config says about its data: the section `data`, and `integrations.pachyderm.dataset`. */
export function dataBoxes({ config, experimentId }: Pick<LineageFacts, "config" | "experimentId">): LineageBox[] {
  const { data, integrations } = config;
  const pachyderm = isRecord(integrations) ? integrations["pachyderm"] : null;
  const dataset = isRecord(pachyderm) ? pachyderm["dataset"] : null;
  const values = { ...(isRecord(data) ? data : {}), ...(isRecord(dataset) ? { pachyderm: dataset } : {}) };
  const lines = linesOf(values);
  if (lines.length === 0) return [];
  const href = experimentId === null ? undefined : `/experiments/${experimentId}/code`;
  return [{ key: "data", title: "Data of the configuration", lines, href }];
}

function experimentBoxes({ experimentId, experimentName }: LineageFacts): LineageBox[] {
  if (experimentId === null) return [];
  const lines = experimentName === null ? [] : [short(experimentName)];
  return [{ key: "experiment", title: `Experiment ${experimentId}`, lines, href: `/experiments/${experimentId}` }];
}

function checkpointBox({ checkpoint, experimentId, trialId }: LineageFacts): LineageBox {
  const { uuid, batches } = checkpoint;
  const box = { key: uuid, title: uuid.slice(0, 8) };
  const after = batches === null ? [] : [`after ${batches.toLocaleString("en")} batches`];
  if (trialId === null) return { ...box, lines: after };
  const href = `/experiments/${experimentId}/trials/${trialId}/checkpoints?checkpoint=${uuid}`;
  return { ...box, lines: [`of trial ${trialId}`, ...after], href };
}

function versionBox({ model, version, name, aliases }: LineageVersion): LineageBox {
  return {
    key: `${model.id} ${version}`,
    title: `${short(model.name)} version ${version}`,
    lines: [...(name ? [short(name)] : []), ...(aliases ?? [])],
    href: `/models/${model.id}/versions/${version}`,
  };
}

function useBox(use: LineageUse, { current }: LineageFacts): LineageBox {
  const how = use.trialSourceInfoType.endsWith("FINE_TUNING") ? "fine-tuning" : "inference";
  const isThis = use.modelId === current.model.id && use.modelVersion === current.version;
  const as = isThis
    ? ""
    : use.modelVersion
      ? `, as version ${use.modelVersion} of model ${use.modelId}`
      : ", its checkpoint";
  return {
    key: `trial ${use.trialId}`,
    title: `Trial ${use.trialId}`,
    lines: [`${how}${as}`, short(use.experimentName)],
    href: `/experiments/${use.experimentId}/trials/${use.trialId}`,
  };
}

function stage(kind: StageKind, label: string, boxes: LineageBox[]): LineageStage {
  return { kind, label, boxes: boxes.slice(0, MOST), hidden: boxes.slice(MOST) };
}

function linesOf(values: Readonly<Record<string, unknown>>): string[] {
  const entries = Object.entries(values).filter(([, value]) => value !== null && value !== "");
  const lines = entries.slice(0, 3).map(([name, value]) => short(`${name}: ${wordsOf(value)}`));
  return entries.length > 3 ? [...lines, `and ${entries.length - 3} more`] : lines;
}

function wordsOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The middle of a long text is left out: paths differ at their ends. */
function short(text: string): string {
  const plain = straight(text);
  if (plain.length <= LONGEST) return plain;
  return `${plain.slice(0, LONGEST / 2 - 1)}…${plain.slice(-LONGEST / 2)}`;
}
