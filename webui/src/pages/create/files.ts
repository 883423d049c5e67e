// A folder from the reader's disk as a model definition: what .detignore keeps, in the shape a submit carries. Pure but
// for reading the files.
import type { Schemas } from "../../api/schema";
import { IGNORE_FILE, ignoring } from "./ignore";

export type WireFile = Schemas["File"];

/** A file of the model definition to be; `path` is relative to the folder. */
export interface CodeFile {
  path: string;
  content: Uint8Array;
  /** Milliseconds since 1970. */
  modified: number;
}

export interface Picked {
  path: string;
  file: File;
}

export interface Sifted {
  kept: Picked[];
  ignored: number;
  bytes: number;
}

/** As the master and the command have it. */
export const MOST_BYTES = 95 * 1024 * 1024;

const REGULAR = 48;
const FOLDER = 53;
const PLAIN_MODE = 0o644;
const RUNNABLE_MODE = 0o755;

/** Applies the folder's own .detignore. */
export async function sift(picked: readonly Picked[]): Promise<Sifted> {
  const own = picked.find(({ path }) => path === IGNORE_FILE);
  const isIgnored = ignoring(own ? await own.file.text() : "");
  const kept = picked.filter(({ path }) => !isIgnored(path)).sort((a, b) => (a.path < b.path ? -1 : 1));
  return { kept, ignored: picked.length - kept.length, bytes: kept.reduce((sum, { file }) => sum + file.size, 0) };
}

export async function read(picked: readonly Picked[]): Promise<CodeFile[]> {
  return await Promise.all(
    picked.map(async ({ path, file }) => ({
      path,
      content: new Uint8Array(await file.arrayBuffer()),
      modified: file.lastModified,
    })),
  );
}

/** Files of `<input webkitdirectory>`: their paths begin with the folder's name, which is not part of the code. */
export function fromInput(files: Iterable<File>): Picked[] {
  return [...files].map((file) => ({ path: relative(file.webkitRelativePath || file.name), file }));
}

/** What was dropped: a single folder stands for its content; files and several folders are taken as they are. */
export async function fromDrop(items: DataTransferItemList): Promise<Picked[]> {
  const entries = [...items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  const only = entries.length === 1 && entries[0]?.isDirectory ? entries[0] : null;
  const found = await Promise.all(entries.map((entry) => walk(entry)));
  const all = found.flat();
  return only ? all.map(({ path, file }) => ({ path: relative(path), file })) : all;
}

/** With the folders they lie in, parents first. */
export function toWire(files: readonly CodeFile[]): WireFile[] {
  const folders = new Set<string>();
  for (const { path } of files) {
    const parts = path.split("/");
    for (let depth = 1; depth < parts.length; depth += 1) folders.add(parts.slice(0, depth).join("/"));
  }
  const newest = String(Math.floor(Math.max(0, ...files.map(({ modified }) => modified)) / 1000));
  return [
    ...[...folders].sort().map((path) => entry(path, FOLDER, RUNNABLE_MODE, newest, "")),
    ...files.map((file) =>
      entry(file.path, REGULAR, modeOf(file.content), String(Math.floor(file.modified / 1000)), toBase64(file.content)),
    ),
  ];
}

/** The text of a file; null when it is no text. */
export function textOf(content: Uint8Array): string | null {
  if (content.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch {
    return null;
  }
}

/** YAML files at the top of the folder, those that look like a configuration first. */
export function configsIn(files: readonly CodeFile[]): CodeFile[] {
  const found = files.filter(({ path }) => /^[^/]+\.ya?ml$/.test(path));
  const looks = (file: CodeFile) => (/^(searcher|entrypoint)\s*:/m.test(textOf(file.content) ?? "") ? 0 : 1);
  return found.sort((a, b) => looks(a) - looks(b) || (a.path < b.path ? -1 : 1));
}

export function toBase64(content: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < content.length; at += 0x8000) {
    pieces.push(String.fromCharCode(...content.subarray(at, at + 0x8000)));
  }
  return btoa(pieces.join(""));
}

function relative(path: string): string {
  const clean = path.replace(/^\/+/, "");
  const slash = clean.indexOf("/");
  return slash === -1 ? clean : clean.slice(slash + 1);
}

async function walk(entry: FileSystemEntry): Promise<Picked[]> {
  const path = entry.fullPath.replace(/^\/+/, "");
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    return [{ path, file }];
  }
  const inside = await entriesOf((entry as FileSystemDirectoryEntry).createReader());
  return (await Promise.all(inside.map((one) => walk(one)))).flat();
}

/** A reader gives at most a hundred at a time. */
async function entriesOf(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  const found: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return found;
    found.push(...some);
  }
}

function entry(path: string, type: number, mode: number, mtime: string, content: string): WireFile {
  return { path, type, mode, mtime, content, uid: 0, gid: 0 };
}

/** Browsers do not tell whether a file may be run; one that names its interpreter may. */
function modeOf(content: Uint8Array): number {
  return content[0] === 0x23 && content[1] === 0x21 ? RUNNABLE_MODE : PLAIN_MODE;
}
