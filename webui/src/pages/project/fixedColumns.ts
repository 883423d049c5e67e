// Columns that every project has, so that a table can be drawn before the master has listed the others.
import { type Catalogue, catalogueOf } from "../../query/catalogue";
import type { Kind } from "./rowValues";

const TEXT = "COLUMN_TYPE_TEXT";
const NUMBER = "COLUMN_TYPE_NUMBER";
const DATE = "COLUMN_TYPE_DATE";

const SHARED: readonly [string, string, string][] = [
  ["id", "ID", NUMBER],
  ["state", "State", TEXT],
  ["searcherMetricsVal", "Best metric", NUMBER],
  ["startTime", "Start time", DATE],
  ["duration", "Duration", NUMBER],
  ["user", "User", TEXT],
  ["tags", "Tags", TEXT],
];

const OWN: Record<Kind, readonly [string, string, string][]> = {
  run: [["experimentName", "Experiment", TEXT]],
  experiment: [
    ["name", "Name", TEXT],
    ["progress", "Progress", NUMBER],
    ["numTrials", "Trials", NUMBER],
  ],
};

export const FIXED: Record<Kind, Catalogue> = { run: fixed("run"), experiment: fixed("experiment") };

function fixed(kind: Kind): Catalogue {
  const location = kind === "run" ? "LOCATION_TYPE_RUN" : "LOCATION_TYPE_EXPERIMENT";
  return catalogueOf(
    [...SHARED, ...OWN[kind]].map(([column, displayName, type]) => ({ column, displayName, type, location })),
  );
}
