// The parent's files, one by one, to be changed in the browser.
import { call } from "../../api/client";
import type { Schemas } from "../../api/schema";
import { bytes, plural } from "../../ui/format";
import type { CodeFile } from "./files";

type FileNode = Schemas["FileNode"];

export interface Leaf {
  path: string;
  size: number;
  modified: number;
}

/** More than that is for the command line. */
const MOST_FILES = 200;
const MOST_BYTES = 20 * 1024 * 1024;
const AT_ONCE = 4;

export function leavesOf(nodes: readonly FileNode[]): Leaf[] {
  return nodes.flatMap((node) => {
    if (node.isDir) return leavesOf(node.files ?? []);
    const modified = Date.parse(node.modifiedTime ?? "");
    return [
      {
        path: node.path ?? node.name ?? "",
        size: node.contentLength ?? 0,
        modified: Number.isNaN(modified) ? 0 : modified,
      },
    ];
  });
}

export async function loadFiles(experimentId: number, leaves: readonly Leaf[]): Promise<CodeFile[]> {
  const total = leaves.reduce((sum, leaf) => sum + leaf.size, 0);
  if (leaves.length > MOST_FILES || total > MOST_BYTES) {
    throw new Error(
      `${plural(leaves.length, "file")} of ${bytes(total)} are too much to change in the browser; ` +
        `download the code, change it and drop the folder here, or use: det experiment download-model-def ${experimentId}`,
    );
  }
  const files: CodeFile[] = [];
  for (let first = 0; first < leaves.length; first += AT_ONCE) {
    files.push(...(await Promise.all(leaves.slice(first, first + AT_ONCE).map((leaf) => load(experimentId, leaf)))));
  }
  return files;
}

async function load(experimentId: number, { path, modified }: Leaf): Promise<CodeFile> {
  const answer = await call("getModelDefinitionFile", {
    path: { experiment_id: experimentId },
    body: { path },
  });
  const content = Uint8Array.from(atob(answer.file ?? ""), (letter) => letter.charCodeAt(0));
  return { path, content, modified };
}
