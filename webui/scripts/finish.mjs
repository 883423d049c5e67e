// `node finish.mjs DIRECTORY`, the last step of a build: .br and .gz beside every file worth it, and the licences of what the page contains.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const home = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(home, process.argv[2]);
const WORTH_COMPRESSING = new Set([".css", ".js", ".json", ".svg", ".txt"]);
const SMALLEST = 1024;

writeFileSync(join(dist, "THIRD_PARTY_NOTICES.txt"), notices());
for (const file of filesUnder(dist)) compress(file);

/** The name, version and licence text of every package of the lockfile that is not only for development. */
function notices() {
  const { packages } = JSON.parse(readFileSync(join(home, "package-lock.json"), "utf8"));
  const shipped = Object.entries(packages).filter(([place, entry]) => place !== "" && !entry.dev && !entry.devOptional);
  const parts = shipped.map(([place, entry]) => notice(place, entry)).sort();
  return ["The web page contains the following packages.\n", ...parts].join(`\n${"-".repeat(80)}\n\n`);
}

function notice(place, entry) {
  const name = place.split("node_modules/").at(-1);
  return `${name} ${entry.version} (${entry.license ?? "see below"})\n\n${licence(join(home, place))}`;
}

function licence(place) {
  const found = listed(place).filter((name) => /^(licen[cs]e|notice)/i.test(name));
  return found.map((name) => readFileSync(join(place, name), "utf8").trim()).join("\n\n") + "\n";
}

function listed(place) {
  try {
    return readdirSync(place).sort();
  } catch {
    return []; // an optional package that this platform does not install
  }
}

function compress(file) {
  if (!WORTH_COMPRESSING.has(extname(file)) || statSync(file).size < SMALLEST) return;
  const content = readFileSync(file);
  const brotli = brotliCompressSync(content, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length },
  });
  writeFileSync(`${file}.br`, brotli);
  writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
}

function filesUnder(place) {
  return readdirSync(place, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesUnder(join(place, entry.name)) : [join(place, entry.name)],
  );
}
