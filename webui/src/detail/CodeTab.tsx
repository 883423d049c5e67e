// The code an experiment was submitted with, file by file, and its configuration as submitted and as it runs.

import { useMemo } from "react";
import { call } from "../api/client";
import type { Schemas } from "../api/schema";
import { useAct, useApi } from "../api/useApi";
import { Button } from "../ui/Button";
import { CodeEditor } from "../ui/CodeEditor";
import { Empty } from "../ui/Empty";
import { ErrorCard } from "../ui/ErrorCard";
import { Skeleton } from "../ui/Skeleton";
import { saveFile } from "../ui/saveFile";
import { text, useUrlState } from "../url";
import css from "./detail.module.css";
import { decodeBase64 } from "./files";
import type { Experiment } from "./types";
import { toYaml } from "./yaml";

type FileNode = Schemas["FileNode"];

const SUBMITTED = "config:submitted";
const EFFECTIVE = "config:effective";

export function CodeTab({ experiment }: { experiment: Experiment }) {
  const [chosen, setChosen] = useUrlState("file", text, SUBMITTED);
  const tree = useApi("getModelDefinitionTree", { path: { experiment_id: experiment.id } }, { staleTime: 3_600_000 });
  const download = useDownload(experiment.id);
  const open = (path: string): void => setChosen(path, "push");
  return (
    <div className={css["code"]}>
      <nav aria-label="Files">
        <ul className={css["tree"]}>
          <Entry path={SUBMITTED} name="Submitted configuration" chosen={chosen} onOpen={open} />
          <Entry path={EFFECTIVE} name="Effective configuration" chosen={chosen} onOpen={open} />
          {tree.error && <ErrorCard error={tree.error} onRetry={() => void tree.refetch()} />}
          {tree.isPending && <Skeleton rows={4} />}
          {tree.data && <Nodes nodes={tree.data.files ?? []} chosen={chosen} onOpen={open} />}
        </ul>
        {tree.data?.files?.length === 0 ? (
          <p className={css["muted"]}>No code was stored.</p>
        ) : (
          <Button kind="plain" onPress={() => void download()}>
            Download the code
          </Button>
        )}
      </nav>
      <FileView experiment={experiment} path={chosen} />
    </div>
  );
}

function Nodes({
  nodes,
  chosen,
  onOpen,
}: {
  nodes: readonly FileNode[];
  chosen: string;
  onOpen: (path: string) => void;
}) {
  return nodes.map((node) => {
    const path = node.path ?? node.name ?? "";
    if (!node.isDir) return <Entry key={path} path={path} name={node.name ?? path} chosen={chosen} onOpen={onOpen} />;
    return (
      <li key={path}>
        <details open={chosen.startsWith(path) || nodes.length < 10}>
          <summary>{node.name}/</summary>
          <ul>
            <Nodes nodes={node.files ?? []} chosen={chosen} onOpen={onOpen} />
          </ul>
        </details>
      </li>
    );
  });
}

interface EntryProps {
  path: string;
  name: string;
  chosen: string;
  onOpen: (path: string) => void;
}

function Entry({ path, name, chosen, onOpen }: EntryProps) {
  return (
    <li>
      <button type="button" aria-current={path === chosen || undefined} onClick={() => onOpen(path)}>
        {name}
      </button>
    </li>
  );
}

function FileView({ experiment, path }: { experiment: Experiment; path: string }) {
  const isConfig = path === SUBMITTED || path === EFFECTIVE;
  const file = useApi(
    "getModelDefinitionFile",
    { path: { experiment_id: experiment.id }, body: { path } },
    { enabled: !isConfig, staleTime: 3_600_000 },
  );
  const effective = useMemo(() => toYaml(experiment.config), [experiment.config]);
  if (path === SUBMITTED)
    return <Source value={experiment.originalConfig} name="submitted configuration" language="yaml" />;
  if (path === EFFECTIVE) return <Source value={effective} name="effective configuration" language="yaml" />;
  if (file.error) return <ErrorCard error={file.error} onRetry={() => void file.refetch()} />;
  if (file.data === undefined) return <Skeleton rows={12} />;
  const decoded = decodeBase64(file.data.file ?? "");
  if (decoded === null) return <Empty title={`${path} is not text`}>Download the code to look at it.</Empty>;
  return <Source value={decoded} name={path} language={languageOf(path)} />;
}

type Language = "yaml" | "python" | "text";

function Source({ value, name, language }: { value: string; name: string; language: Language }) {
  return <CodeEditor value={value} language={language} readOnly label={name} />;
}

function languageOf(path: string): Language {
  if (path.endsWith(".py")) return "python";
  return /\.(ya?ml|json)$/.test(path) ? "yaml" : "text";
}

function useDownload(experimentId: number): () => Promise<void> {
  const act = useAct();
  return async () => {
    await act({
      label: `Downloaded the code of experiment ${experimentId}`,
      run: async () => {
        const answer = await call("getModelDefinition", {
          path: { experiment_id: experimentId },
        });
        const content = Uint8Array.from(atob(answer.b64Tgz), (char) => char.charCodeAt(0));
        saveFile(new Blob([content], { type: "application/gzip" }), `experiment-${experimentId}-code.tar.gz`);
      },
      invalidate: [],
    });
  };
}
