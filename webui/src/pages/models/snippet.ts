// What loads a version of a model: a command and Python, ready to paste. Pure.
import { requestOf } from "../../api/client";
import { straight } from "../../ui/format";

/** Model as code names it: by name, or by id where the name has characters that turn the text around them. */
export function referenceOf(model: { id: number; name: string }): string {
  return straight(model.name) === model.name ? model.name : String(model.id);
}

/** `det model download NAME:VERSION DIRECTORY` on this master. */
export function downloadCommand(master: string, name: string, version: number): string {
  return `det -m ${master} model download ${word(`${name}:${version}`)} ${directoryOf(name, version)}`;
}

/** Python that downloads the files of a version and prints where they are. */
export function pythonSnippet(master: string, name: string, version: number): string {
  return [
    "from determined.experimental import client",
    `client.login(master=${JSON.stringify(master)})`,
    `version = client.get_model(${JSON.stringify(name)}).get_version(${version})`,
    `print(version.download(${JSON.stringify(directoryOf(name, version))}))`,
  ].join("\n");
}

/** One line of shell that needs neither determined nor Python; the token comes from the environment. */
export function curlCommand(master: string, name: string, version: number): string {
  const { url } = requestOf("downloadModelVersion", { path: { model_name: name, version } });
  const directory = directoryOf(name, version);
  const token = `"Authorization: Bearer \${DET_TOKEN:?needs an access token}"`;
  return `mkdir -p ${directory} && curl -fsS -H ${token} ${word(master + url)} | tar xzf - -C ${directory}`;
}

/** Metrics of a checkpoint by name, validation before training. */
export function metricsOf(training: {
  validationMetrics?: { avgMetrics: Record<string, unknown> } | null | undefined;
  trainingMetrics?: { avgMetrics: Record<string, unknown> } | null | undefined;
}): { name: string; value: unknown }[] {
  const named = (group: string, metrics: Record<string, unknown> | undefined) =>
    Object.entries(metrics ?? {}).map(([name, value]) => ({ name: `${group} ${name}`, value }));
  return [
    ...named("validation", training.validationMetrics?.avgMetrics),
    ...named("training", training.trainingMetrics?.avgMetrics),
  ];
}

function directoryOf(name: string, version: number): string {
  return `${name.replace(/[^A-Za-z0-9_]+/g, "-").replace(/^-+|-+$/g, "") || "model"}-${version}`;
}

function word(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
