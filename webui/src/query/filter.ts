// The filter tree of POST /runs and POST /experiments-search, and pure edits of it by path (indexes of children).

export type Conjunction = "and" | "or";
export type Operator = "=" | "!=" | ">" | ">=" | "<" | "<=" | "contains" | "notContains" | "isEmpty" | "notEmpty";
export type FilterValue = string | number | boolean | null;

export interface FieldNode {
  kind: "field";
  columnName: string;
  location: string;
  type: string;
  operator: Operator;
  value: FilterValue;
}

export interface GroupNode {
  kind: "group";
  conjunction: Conjunction;
  children: FilterNode[];
}

export type FilterNode = FieldNode | GroupNode;
export type Path = readonly number[];

export interface Filter {
  filterGroup: GroupNode;
  showArchived: boolean;
}

export const EVERYTHING: GroupNode = { kind: "group", conjunction: "and", children: [] };

export function group(conjunction: Conjunction, children: FilterNode[]): GroupNode {
  return { kind: "group", conjunction, children };
}

export function needsValue(operator: Operator): boolean {
  return operator !== "isEmpty" && operator !== "notEmpty";
}

/** The JSON text that the API takes. */
export function filterText(filter: Filter): string {
  return JSON.stringify(filter);
}

export function nodeAt(root: GroupNode, path: Path): FilterNode | undefined {
  let node: FilterNode | undefined = root;
  for (const index of path) node = node?.kind === "group" ? node.children[index] : undefined;
  return node;
}

/** The tree with the node at `path` replaced, or taken out when `next` is null. */
export function replaceAt(root: GroupNode, path: Path, next: FilterNode | null): GroupNode {
  const [index, ...rest] = path;
  if (index === undefined) return next?.kind === "group" ? next : root;
  const child = root.children[index];
  if (child === undefined) return root;
  const changed = rest.length > 0 ? (child.kind === "group" ? replaceAt(child, rest, next) : child) : next;
  const kept = changed === null ? [] : [changed];
  return { ...root, children: [...root.children.slice(0, index), ...kept, ...root.children.slice(index + 1)] };
}

export function appendAt(root: GroupNode, path: Path, added: FilterNode): GroupNode {
  const target = nodeAt(root, path);
  if (target?.kind !== "group") return root;
  return replaceAt(root, path, { ...target, children: [...target.children, added] });
}

/** Both must hold. A root of `and` grows; one of `or` becomes a part. */
export function allOf(root: GroupNode, added: readonly FilterNode[]): GroupNode {
  if (added.length === 0) return root;
  if (root.conjunction === "and" || root.children.length <= 1) return group("and", [...root.children, ...added]);
  return group("and", [root, ...added]);
}

export function* fieldsOf(node: FilterNode): Generator<FieldNode> {
  if (node.kind === "field") yield node;
  else for (const child of node.children) yield* fieldsOf(child);
}
