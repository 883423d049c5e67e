// The code of the experiment: a folder dropped here, the parent's files, or files written in the browser.
import { useState } from "react";
import { useAct, useApi } from "../../api/useApi";
import { Button } from "../../ui/Button";
import { CodeEditor } from "../../ui/CodeEditor";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { bytes, plural } from "../../ui/format";
import { Skeleton } from "../../ui/Skeleton";
import { TextField } from "../../ui/TextField";
import { Link } from "../../url";
import css from "./create.module.css";
import { DropZone } from "./DropZone";
import { FileList } from "./FileList";
import { type CodeFile, configsIn, MOST_BYTES, textOf } from "./files";
import { leavesOf, loadFiles } from "./parentFiles";

export interface Code {
  files: CodeFile[];
  /** Left behind by .detignore. */
  ignored: number;
}

export interface FilesPanelProps {
  code: Code | null;
  onChange: (code: Code | null) => void;
  parentId: number | null;
  /** Takes a file's text as the configuration. */
  onConfig: (text: string) => void;
  onExample: () => void;
}

export function FilesPanel(props: FilesPanelProps) {
  const { code, onChange, parentId } = props;
  const take = (files: CodeFile[], ignored: number) => onChange({ files, ignored });
  return (
    <div className={css["stack"]}>
      {code ? (
        <Chosen {...props} code={code} />
      ) : (
        parentId !== null && <OfParent parentId={parentId} onLoad={(files) => take(files, 0)} />
      )}
      <DropZone onFiles={take} />
      {!code && parentId === null && (
        <div className={css["row"]}>
          <Button onPress={props.onExample}>Start with a small example</Button>
          <Button onPress={() => take([newFile("train.py")], 0)}>Write a file here</Button>
        </div>
      )}
    </div>
  );
}

function Chosen({ code, onChange, onConfig, parentId }: FilesPanelProps & { code: Code }) {
  const { files, ignored } = code;
  const [open, setOpen] = useState<string | null>(() => files.find(({ path }) => path.endsWith(".py"))?.path ?? null);
  const total = files.reduce((sum, file) => sum + file.content.length, 0);
  const keep = (next: CodeFile[]) => onChange({ ...code, files: next });
  const shown = files.find(({ path }) => path === open);
  const change = (text: string) =>
    keep(
      files.map((file) =>
        file.path === open ? { ...file, content: new TextEncoder().encode(text), modified: Date.now() } : file,
      ),
    );
  return (
    <>
      <p>
        {plural(files.length, "file")}, {bytes(total)} of at most {bytes(MOST_BYTES)}
        {ignored > 0 && `; ${plural(ignored, "file")} left behind by .detignore and the usual rules`}
      </p>
      <div className={css["row"]}>
        {configsIn(files).map((file) => (
          <Button key={file.path} onPress={() => onConfig(textOf(file.content) ?? "")}>
            Use {file.path} as the configuration
          </Button>
        ))}
        <Button onPress={() => onChange(null)}>{parentId === null ? "Take all out" : "Use the parent's files"}</Button>
      </div>
      <FileList
        files={files}
        open={open}
        onOpen={setOpen}
        onRemove={(path) => keep(files.filter((file) => file.path !== path))}
      />
      <NewFile taken={files} onAdd={(file) => keep([...files, file])} onOpen={setOpen} />
      {shown && <Source file={shown} onChange={change} />}
    </>
  );
}

function Source({ file, onChange }: { file: CodeFile; onChange: (text: string) => void }) {
  const text = textOf(file.content);
  if (text === null) return <Empty title={`${file.path} is not text`}>It is sent as it is.</Empty>;
  const language = file.path.endsWith(".py") ? "python" : /\.ya?ml$/.test(file.path) ? "yaml" : "text";
  return <CodeEditor key={file.path} value={text} language={language} label={file.path} onChange={onChange} />;
}

function NewFile({
  taken,
  onAdd,
  onOpen,
}: {
  taken: readonly CodeFile[];
  onAdd: (file: CodeFile) => void;
  onOpen: (path: string) => void;
}) {
  const [name, setName] = useState("");
  const path = name.trim().replace(/^\/+/, "");
  const error = taken.some((file) => file.path === path)
    ? `${path} is there already`
    : path.split("/").includes("..")
      ? "A path stays inside the folder"
      : undefined;
  const add = () => {
    if (path === "" || error) return;
    onAdd(newFile(path));
    onOpen(path);
    setName("");
  };
  return (
    <div className={css["add"]}>
      <TextField
        label="Name of a new file"
        hidesLabel
        placeholder="new file, such as model.py"
        value={name}
        onChange={setName}
        onSubmit={add}
        error={error}
      />
      <Button isDisabled={path === "" || error !== undefined} onPress={add}>
        Add file
      </Button>
    </div>
  );
}

function OfParent({ parentId, onLoad }: { parentId: number; onLoad: (files: CodeFile[]) => void }) {
  const tree = useApi("getModelDefinitionTree", { path: { experiment_id: parentId } }, { staleTime: 3_600_000 });
  const act = useAct();
  const [isLoading, setLoading] = useState(false);
  if (tree.error) return <ErrorCard error={tree.error} onRetry={tree.refetch} />;
  if (!tree.data) return <Skeleton rows={3} />;
  const leaves = leavesOf(tree.data.files ?? []);
  const load = async () => {
    setLoading(true);
    await act({
      label: `Took ${plural(leaves.length, "file")} of experiment ${parentId}`,
      run: async () => onLoad(await loadFiles(parentId, leaves)),
      invalidate: [],
    });
    setLoading(false);
  };
  return (
    <>
      <p>
        The code of <Link href={`/experiments/${parentId}/code`}>experiment {parentId}</Link> is used as it is (
        {plural(leaves.length, "file")}).
      </p>
      {leaves.length > 0 && (
        <div className={css["row"]}>
          <Button isPending={isLoading} onPress={() => void load()}>
            Change its files here
          </Button>
        </div>
      )}
    </>
  );
}

function newFile(path: string): CodeFile {
  return { path, content: new Uint8Array(), modified: Date.now() };
}
