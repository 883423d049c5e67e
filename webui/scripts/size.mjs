// Fails when the JavaScript that a page needs before its first interaction is over budget (gzip, kB = 1000 bytes).
// Reads dist/.vite/manifest.json: a page costs the entry, its own chunk and everything both import statically.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const DIST = join(dirname(fileURLToPath(import.meta.url)), "..", "dist");
const SMALL = 200;
const ANY = 300;
const SMALL_PAGES = ["login/LoginPage", "home/HomePage"];

const manifest = readManifest();
const sizes = new Map();
const pages = Object.keys(manifest).filter(
  (key) => /^src\/pages\/.*Page\.tsx$/.test(key) && manifest[key].isDynamicEntry,
);
if (pages.length === 0) fail("the manifest names no pages; is dist complete? Run: python build.py");

const rows = pages.map((page) => {
  const kB = [...needed(["index.html", page])].reduce((sum, key) => sum + gzipped(key), 0) / 1000;
  const name = page.replace(/^src\/pages\/|\.tsx$/g, "");
  return { name, kB, budget: SMALL_PAGES.includes(name) ? SMALL : ANY };
});
rows.sort((a, b) => b.kB - a.kB);
for (const { name, kB, budget } of rows) {
  process.stdout.write(`${kB > budget ? "OVER" : "ok  "} ${kB.toFixed(1).padStart(6)} of ${budget} kB  ${name}\n`);
}
const over = rows.filter((row) => row.kB > row.budget);
if (over.length > 0)
  fail(`over budget: ${over.map((row) => row.name).join(", ")}; split the page or load the part lazily`);

function needed(keys, seen = new Set()) {
  for (const key of keys) {
    if (seen.has(key)) continue;
    if (!manifest[key]) fail(`the manifest has no ${key}`);
    seen.add(key);
    needed(manifest[key].imports ?? [], seen);
  }
  return seen;
}

function gzipped(key) {
  const { file } = manifest[key];
  if (!file.endsWith(".js")) return 0;
  if (!sizes.has(file)) sizes.set(file, gzipSync(readFileSync(join(DIST, file)), { level: 9 }).length);
  return sizes.get(file);
}

function readManifest() {
  try {
    return JSON.parse(readFileSync(join(DIST, ".vite", "manifest.json"), "utf8"));
  } catch (error) {
    return fail(`no manifest in dist (${error.message}); run: python build.py`);
  }
}

function fail(words) {
  process.stderr.write(`${words}\n`);
  process.exit(1);
}
