// A filter tree as a query line: what the filter builder and drill-downs write.

import { type Catalogue, type Kind, shortest } from "./catalogue";
import { type FieldNode, type FilterNode, type GroupNode, needsValue } from "./filter";
import { written } from "./operators";
import { writtenName } from "./tokens";
import { writtenValue } from "./value";

/** parse(print(tree)) is the same tree, but for groups of one, which say nothing. */
export function print(tree: GroupNode, catalogue: Catalogue): string {
  return printed(simplified(tree), catalogue);
}

/** Empty groups and groups of one vanish. */
export function simplified(tree: GroupNode): GroupNode {
  const only = pruned(tree);
  if (only === null) return { ...tree, children: [] };
  return only.kind === "group" ? only : { kind: "group", conjunction: "and", children: [only] };
}

function pruned(node: FilterNode): FilterNode | null {
  if (node.kind === "field") return node;
  const children = node.children.map(pruned).filter((child) => child !== null);
  const [first] = children;
  if (first === undefined) return null;
  if (children.length === 1) return first;
  const flat = children.flatMap((child) =>
    child.kind === "group" && child.conjunction === node.conjunction ? child.children : [child],
  );
  return { ...node, children: flat };
}

function printed(node: FilterNode, catalogue: Catalogue): string {
  if (node.kind === "field") return printedField(node, catalogue);
  const parts = node.children.map((child) => {
    const text = printed(child, catalogue);
    // `and` binds tighter, so only an `or` inside an `and` needs its parentheses; the others help readers
    return child.kind === "group" ? `(${text})` : text;
  });
  return parts.join(` ${node.conjunction} `);
}

function printedField(field: FieldNode, catalogue: Catalogue): string {
  const column = catalogue.find(field.columnName);
  const kind: Kind = column?.kind ?? "data";
  const short = column && column.name === field.columnName ? shortest(column) : field.columnName;
  // a short name that means another column (a training metric beside a validation metric) is of no use
  const name = catalogue.find(short)?.name === field.columnName ? short : field.columnName;
  const head = `${writtenName(name)} ${written(field.operator, kind)}`;
  return needsValue(field.operator) ? `${head} ${writtenValue(field.value, kind)}` : head;
}
