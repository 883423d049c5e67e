// The query language: both ways, its kinds, its errors with their places, and what could come next.
import { expect, test } from "vitest";
import { catalogueOf } from "./catalogue";
import { complete } from "./complete";
import { allOf, appendAt, type FieldNode, type GroupNode, group, replaceAt } from "./filter";
import { parse } from "./parse";
import { print } from "./print";

const NOW = Date.UTC(2026, 10, 15);
const at = (column: string, location: string, type: string, displayName = column) => ({
  column,
  location,
  type,
  displayName,
});

const CATALOGUE = catalogueOf([
  at("id", "LOCATION_TYPE_RUN", "COLUMN_TYPE_NUMBER"),
  at("state", "LOCATION_TYPE_RUN", "COLUMN_TYPE_TEXT"),
  at("startTime", "LOCATION_TYPE_RUN", "COLUMN_TYPE_DATE"),
  at("duration", "LOCATION_TYPE_RUN", "COLUMN_TYPE_NUMBER"),
  at("experimentName", "LOCATION_TYPE_RUN", "COLUMN_TYPE_TEXT", "Search name"),
  at("tags", "LOCATION_TYPE_RUN", "COLUMN_TYPE_TEXT"),
  at("archived", "LOCATION_TYPE_RUN", "COLUMN_TYPE_TEXT"),
  at("hp.lr", "LOCATION_TYPE_RUN_HYPERPARAMETERS", "COLUMN_TYPE_NUMBER", "lr"),
  at("hp.optimizer name", "LOCATION_TYPE_RUN_HYPERPARAMETERS", "COLUMN_TYPE_TEXT"),
  at("training.loss.last", "LOCATION_TYPE_TRAINING", "COLUMN_TYPE_NUMBER"),
  at("validation.loss.last", "LOCATION_TYPE_VALIDATIONS", "COLUMN_TYPE_NUMBER"),
  at("validation.val_loss.last", "LOCATION_TYPE_VALIDATIONS", "COLUMN_TYPE_NUMBER"),
]);

function tree(text: string): GroupNode {
  const parsed = parse(text, CATALOGUE, NOW);
  if (parsed.error) throw new Error(parsed.error.message);
  return parsed.filter;
}

function error(text: string) {
  const parsed = parse(text, CATALOGUE, NOW);
  if (!parsed.error) throw new Error(`${text} was understood`);
  return { ...parsed.error, part: text.slice(parsed.error.start, parsed.error.end) };
}

function only(text: string): FieldNode {
  const [child] = tree(text).children;
  if (child?.kind !== "field") throw new Error("no field");
  return child;
}

test("the query of the handbook becomes the API's tree", () => {
  const found = tree('hp.lr > 1e-3 and state == "COMPLETED" and val_loss < 0.3 and tag == "x" or name ~ "foo"');
  expect(found.conjunction).toBe("or");
  const [all, name] = found.children;
  expect(
    all?.kind === "group" &&
      all.children.map((one) => one.kind === "field" && [one.columnName, one.operator, one.value]),
  ).toEqual([
    ["hp.lr", ">", 0.001],
    ["state", "=", "STATE_COMPLETED"],
    ["validation.val_loss.last", "<", 0.3],
    ["tags", "contains", "x"],
  ]);
  expect(name).toEqual({
    kind: "field",
    columnName: "experimentName",
    location: "LOCATION_TYPE_RUN",
    type: "COLUMN_TYPE_TEXT",
    operator: "contains",
    value: "foo",
  });
});

test.each([
  "hp.lr > 0.001 and state == COMPLETED",
  "id == 3 or id == 4",
  '(id == 3 or id == 4) and tags == "a b"',
  "val_loss.min <= 0.25 and duration >= 7200",
  '`hp.optimizer name` == "adam \\"w\\""',
  "training.loss.last < 1 and loss < 2",
  "archived == true and hp.lr is not empty",
  'startTime > "2026-11-01" and experimentName !~ "x"',
])("what is printed is read as the same: %s", (text) => {
  const printed = print(tree(text), CATALOGUE);
  expect(tree(printed)).toEqual(tree(text));
  expect(print(tree(printed), CATALOGUE)).toBe(printed);
});

test("a mistyped column is named with the nearest one and its place", () => {
  const found = error("hp.lr > 1 and val_los < 0.3");
  expect(found.message).toBe("unknown column val_los; did you mean val_loss?");
  expect(found.part).toBe("val_los");
});

test.each([
  ['val_loss > "abc"', "a number", '"abc"'],
  ["state > COMPLETED", "cannot be compared", ">"],
  ["state == DONE", "a state", "DONE"],
  ["experimentName > 3", "is text", ">"],
  ["archived == maybe", "true or false", "maybe"],
  ["startTime > yesterday", "a time", "yesterday"],
  ["id == 3 id == 4", '"and" or "or"', "id"],
  ["(id == 3", "not closed", "("],
  ["id == 3)", "closes nothing", ")"],
  ['name ~ "fo', "closing quote", '"fo'],
  ["id ==", "a value is missing", ""],
  ["id", "expected an operator", ""],
  ["and id == 3", "cannot begin with and", "and"],
])("%s is refused where it is wrong", (text, words, part) => {
  const found = error(text);
  expect(found.message).toContain(words);
  expect(found.part).toBe(part);
});

test("a word or text alone looks for names", () => {
  expect(only("resnet")).toMatchObject({ columnName: "experimentName", operator: "contains", value: "resnet" });
  expect(only('"res net"')).toMatchObject({ value: "res net" });
});

test("spans are seconds of durations and times before now", () => {
  expect(only("duration > 2h").value).toBe(7200);
  expect(only("started > 7d").value).toBe("2026-11-08T00:00:00.000Z");
});

test("in is any of its values", () => {
  expect(tree("id in (1, 2)")).toEqual(tree("id == 1 or id == 2"));
});

test("an empty line matches everything", () => {
  expect(tree("  ").children).toEqual([]);
});

test("trees are edited by path", () => {
  const before = tree("id == 1 and (id == 2 or id == 3)");
  expect(print(replaceAt(before, [1, 0], null), CATALOGUE)).toBe("id == 1 and id == 3");
  expect(print(appendAt(before, [1], only("hp.lr > 1")), CATALOGUE)).toBe(
    "id == 1 and (id == 2 or id == 3 or hp.lr > 1)",
  );
  expect(print(allOf(group("or", [only("id == 1"), only("id == 2")]), [only("hp.lr > 1")]), CATALOGUE)).toBe(
    "(id == 1 or id == 2) and hp.lr > 1",
  );
});

test("columns, then operators, then values, then joints are offered", () => {
  const labels = (text: string, values?: unknown[]) =>
    complete(text, text.length, CATALOGUE, values).suggestions.map((s) => s.label);
  expect(labels("val")[0]).toBe("val_loss");
  expect(labels("state ")).toEqual(["==", "!="]);
  expect(labels("state == COM")).toEqual(["COMPLETED", "STOPPING_COMPLETED"]);
  expect(labels("state == COMPLETED ")).toEqual(["and", "or"]);
  expect(labels("tags == ", ["a", "b c"])).toEqual(["a", "b c"]);
  expect(complete("tags == ", 8, CATALOGUE, ["b c"]).suggestions[0]?.insert).toBe('"b c" ');
  expect(complete("hp.lr > 1 and sta", 17, CATALOGUE)).toMatchObject({ start: 14, end: 17 });
});
