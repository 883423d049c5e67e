// Menus of headers and of rows: every drag has its entry here.
import type { Point } from "../../grid/Grid";
import { movedBy } from "../../grid/reorder";
import type { Catalogue, Column } from "../../query/catalogue";
import { allOf, type FieldNode, type Filter, type FilterValue } from "../../query/filter";
import { print } from "../../query/print";
import { copyText } from "../../ui/clipboard";
import type { MenuAction } from "../../ui/Menu";
import { toast } from "../../ui/toast";
import { hrefOf, navigate } from "../../url";
import { textOf } from "./cells";
import { type ShownColumn, TREND } from "./columnList";
import { columnValue, type Kind, type TableRow } from "./rowValues";
import type { TableState } from "./tableState";

export interface OpenMenu extends Point {
  label: string;
  items: MenuAction[];
}

const NARROWEST = 48;
const STEP = 40;

export function headerItems(
  key: string,
  width: number,
  column: Column | undefined,
  state: TableState,
  kind: Kind,
): MenuAction[] {
  const sortBy = (descending: boolean, isAdded: boolean) =>
    state.setSort([...(isAdded ? state.sort.filter((one) => one.key !== key) : []), { key, descending }]);
  const change = (next: Partial<ShownColumn>) =>
    state.setColumns(state.columns.map((one) => (one.key === key ? { ...one, ...next } : one)));
  const isPinned = state.columns.find((one) => one.key === key)?.pinned ?? false;
  const isHot = state.heat.includes(key);
  const isNumber = column?.type === "COLUMN_TYPE_NUMBER";
  const sorts: MenuAction[] = [
    { id: "up", label: "Sort ascending", onAction: () => sortBy(false, false) },
    { id: "down", label: "Sort descending", onAction: () => sortBy(true, false) },
    { id: "then", label: "Then sort by it", onAction: () => sortBy(false, true), isDisabled: state.sort.length === 0 },
    { id: "unsorted", label: "Do not sort", onAction: () => state.setSort([]), isDisabled: state.sort.length === 0 },
  ];
  const ofTrials: MenuAction[] = [
    { id: "group", label: "Group by it", onAction: () => state.setGroupBy([...state.groupBy, key]) },
    {
      id: "heat",
      label: isHot ? "No colours" : "Colour by value",
      onAction: () => state.setHeat(isHot ? state.heat.filter((one) => one !== key) : [...state.heat, key]),
      isDisabled: !isNumber,
    },
  ];
  return [
    ...(key === TREND ? [] : sorts),
    ...(kind === "run" && key !== TREND ? ofTrials : []),
    { id: "left", label: "Move left", onAction: () => state.setColumns(movedBy(state.columns, key, -1)) },
    { id: "right", label: "Move right", onAction: () => state.setColumns(movedBy(state.columns, key, 1)) },
    { id: "pin", label: isPinned ? "Unpin" : "Pin to the left", onAction: () => change({ pinned: !isPinned }) },
    { id: "wider", label: "Wider", onAction: () => change({ width: width + STEP }) },
    { id: "narrower", label: "Narrower", onAction: () => change({ width: Math.max(NARROWEST, width - STEP) }) },
    { id: "hide", label: "Hide", onAction: () => state.setColumns(state.columns.filter((one) => one.key !== key)) },
  ];
}

export function rowItems(
  row: TableRow,
  key: string,
  filter: Filter,
  catalogue: Catalogue,
  state: TableState,
): MenuAction[] {
  const column = catalogue.find(key);
  const value = column && columnValue(row, column.name);
  const only = column && conditionOf(column, value, true);
  const without = column && conditionOf(column, value, false);
  const narrow = (condition: FieldNode) =>
    state.setQuery(print(allOf(filter.filterGroup, [condition]), catalogue), "push");
  const items: MenuAction[] = [
    { id: "open", label: "Open", onAction: () => navigate(row.href) },
    { id: "tab", label: "Open in a new tab", onAction: () => void window.open(hrefOf(row.href), "_blank", "noopener") },
    {
      id: "copy",
      label: "Copy the value",
      onAction: () => void copied(textOf(value)),
      isDisabled: value === undefined,
    },
  ];
  if (only && without) {
    items.push({
      id: "only",
      label: `Only ${print({ kind: "group", conjunction: "and", children: [only] }, catalogue)}`,
      onAction: () => narrow(only),
    });
    items.push({
      id: "without",
      label: `Only ${print({ kind: "group", conjunction: "and", children: [without] }, catalogue)}`,
      onAction: () => narrow(without),
    });
  }
  if (row.kind !== "run") return items;
  const isBase = state.base === row.id;
  const compare = `/compare?trials=${[state.base, row.id].sort((a, b) => a - b).join(",")}&base=${state.base}`;
  items.push({
    id: "base",
    label: isBase ? "No baseline" : "Use as the baseline",
    onAction: () => state.setBase(isBase ? 0 : row.id),
  });
  if (state.base > 0 && !isBase)
    items.push({ id: "compare", label: `Compare with trial ${state.base}`, onAction: () => navigate(compare) });
  return items;
}

async function copied(text: string): Promise<void> {
  toast({ text: (await copyText(text)) ? `Copied ${text}` : "The browser did not allow copying" });
}

function conditionOf(column: Column, value: unknown, isEqual: boolean): FieldNode | undefined {
  const one = Array.isArray(value) ? value[0] : value;
  if (!["string", "number", "boolean"].includes(typeof one) || column.kind === "time") return undefined;
  const isSet = column.kind === "labels";
  const operator = isSet ? (isEqual ? "contains" : "notContains") : isEqual ? "=" : "!=";
  return {
    kind: "field",
    columnName: column.name,
    location: column.location,
    type: column.type,
    operator,
    value: one as FilterValue,
  };
}
