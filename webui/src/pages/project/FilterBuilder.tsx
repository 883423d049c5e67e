// The filter builder: the same filter as the query line, as nested groups of conditions. What is complete is written back.
import { Plus, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { type Catalogue, type Column, OPERATORS } from "../../query/catalogue";
import {
  appendAt,
  type FieldNode,
  type FilterNode,
  type GroupNode,
  group,
  needsValue,
  type Operator,
  type Path,
  replaceAt,
} from "../../query/filter";
import { WORDS } from "../../query/operators";
import { print } from "../../query/print";
import { readValue, STATES, stateWord } from "../../query/value";
import { Button, IconButton } from "../../ui/Button";
import { ComboBox } from "../../ui/ComboBox";
import layout from "../../ui/layout.module.css";
import { Select } from "../../ui/Select";
import { TextField } from "../../ui/TextField";
import { useColumnValues } from "./QueryBar";
import css from "./query.module.css";
import type { Kind } from "./rowValues";
import { labelOf } from "./tableColumns";

interface FilterBuilderProps {
  projectId: number;
  kind: Kind;
  /** The filter of the query line; null while the line cannot be read. */
  tree: GroupNode | null;
  catalogue: Catalogue;
  onQuery: (query: string) => void;
}

interface Place {
  projectId: number;
  kind: Kind;
  catalogue: Catalogue;
  /** Replaces the node at a path, or removes it. */
  change: (path: Path, next: FilterNode | null) => void;
  add: (path: Path, node: FilterNode) => void;
}

export function FilterBuilder({ projectId, kind, tree, catalogue, onQuery }: FilterBuilderProps) {
  const [draft, setDraft] = useState<GroupNode>(tree ?? group("and", []));
  const own = useRef<string | null>(null);
  const text = tree === null ? null : print(tree, catalogue);
  useEffect(() => {
    if (tree === null || text === own.current) return;
    own.current = text;
    setDraft(tree);
  }, [tree, text]);
  if (tree === null)
    return <p className={layout["muted"]}>The query line cannot be read as it stands; correct it there first.</p>;
  const update = (next: GroupNode) => {
    setDraft(next);
    const whole = completed(next);
    own.current = print(whole, catalogue);
    onQuery(own.current);
  };
  const place: Place = {
    projectId,
    kind,
    catalogue,
    change: (path, next) => update(replaceAt(draft, path, next)),
    add: (path, node) => update(appendAt(draft, path, node)),
  };
  return <Group node={draft} path={[]} place={place} />;
}

function Group({ node, path, place }: { node: GroupNode; path: Path; place: Place }) {
  const first = place.catalogue.find("name") ?? place.catalogue.columns[0];
  return (
    <fieldset className={css["group"]}>
      <legend className="visually-hidden">Conditions</legend>
      <div className={layout["row"]}>
        <Select
          label="How conditions join"
          hidesLabel
          value={node.conjunction}
          options={[
            { id: "and", label: "All of these" },
            { id: "or", label: "Any of these" },
          ]}
          onChange={(id) => place.change(path, { ...node, conjunction: id === "or" ? "or" : "and" })}
        />
        <Button
          icon={<Plus size={14} aria-hidden="true" />}
          isDisabled={!first}
          onPress={() => first && place.add(path, blankField(first))}
        >
          Condition
        </Button>
        <Button
          icon={<Plus size={14} aria-hidden="true" />}
          onPress={() => place.add(path, group("or", first ? [blankField(first)] : []))}
        >
          Group
        </Button>
        {path.length > 0 && <Remove label="Remove the group" onPress={() => place.change(path, null)} />}
      </div>
      {node.children.map((child, index) => {
        const at = [...path, index];
        // a removed neighbour must not leave its half-typed value behind
        const key = `${at.join(".")} of ${node.children.length}`;
        return child.kind === "group" ? (
          <Group key={key} node={child} path={at} place={place} />
        ) : (
          <Condition key={key} node={child} path={at} place={place} />
        );
      })}
    </fieldset>
  );
}

function Condition({ node, path, place }: { node: FieldNode; path: Path; place: Place }) {
  const { catalogue } = place;
  const column = catalogue.find(node.columnName);
  const options = catalogue.columns.map((one) => ({ id: one.name, label: columnLabel(one) }));
  const isListed = options.some((one) => one.id === node.columnName);
  const operators = OPERATORS[column?.kind ?? "data"];
  return (
    <div className={css["condition"]}>
      <ComboBox
        label="Column"
        hidesLabel
        value={node.columnName}
        options={isListed ? options : [{ id: node.columnName, label: node.columnName }, ...options]}
        onChange={(id) => place.change(path, withColumn(node, catalogue.find(id)))}
      />
      <Select
        label="Comparison"
        hidesLabel
        value={node.operator}
        options={operators.map((one) => ({ id: one, label: WORDS[one] }))}
        onChange={(id) =>
          place.change(path, { ...node, operator: operators.find((one) => one === id) ?? node.operator })
        }
      />
      {needsValue(node.operator) && column ? (
        <Value key={column.name} node={node} column={column} path={path} place={place} />
      ) : (
        <span />
      )}
      <Remove label="Remove the condition" onPress={() => place.change(path, null)} />
    </div>
  );
}

function Value({ node, column, path, place }: { node: FieldNode; column: Column; path: Path; place: Place }) {
  const values = useColumnValues(place.projectId, place.kind, column);
  const shown = node.value === null ? "" : column.kind === "state" ? stateWord(String(node.value)) : String(node.value);
  const [typed, setTyped] = useState(shown);
  const [problem, setProblem] = useState<string | null>(null);
  const take = (text: string) => {
    setTyped(text);
    const isBare = column.kind !== "text" && column.kind !== "labels" && text !== "" && Number.isFinite(Number(text));
    const read = readValue({ kind: isBare ? "number" : "text", value: text, start: 0, end: 0 }, column, Date.now());
    setProblem("problem" in read && text !== "" ? read.problem : null);
    place.change(path, { ...node, value: "problem" in read || text === "" ? null : read.value });
  };
  const fixed = column.kind === "state" ? STATES : column.kind === "boolean" ? ["true", "false"] : null;
  if (fixed) {
    const options = [{ id: "", label: "choose" }, ...fixed.map((one) => ({ id: one, label: one.toLowerCase() }))];
    return <Select label="Value" hidesLabel value={shown} options={options} onChange={take} />;
  }
  if (values.length === 0) return <TextField label="Value" hidesLabel value={typed} onChange={take} error={problem} />;
  return (
    <ComboBox
      label="Value"
      hidesLabel
      allowsCustom
      value={typed}
      options={values.map((one) => ({ id: String(one), label: String(one) }))}
      onChange={take}
    />
  );
}

function Remove({ label, onPress }: { label: string; onPress: () => void }) {
  return (
    <IconButton label={label} onPress={onPress}>
      <X size={14} aria-hidden="true" />
    </IconButton>
  );
}

function columnLabel(column: Column): string {
  const label = labelOf(column.name, column);
  return label === column.name ? label : `${label} (${column.name})`;
}

function blankField(column: Column): FieldNode {
  const [operator = "="] = OPERATORS[column.kind].filter((one) => one === "contains" || one === "=");
  return {
    kind: "field",
    columnName: column.name,
    location: column.location,
    type: column.type,
    operator,
    value: null,
  };
}

function withColumn(node: FieldNode, column: Column | undefined): FieldNode {
  if (!column || column.name === node.columnName) return node;
  const isKept = OPERATORS[column.kind].includes(node.operator);
  const operator: Operator = isKept ? node.operator : blankField(column).operator;
  return { ...blankField(column), operator };
}

/** Without the conditions that still lack a value. */
function completed(tree: GroupNode): GroupNode {
  const children: FilterNode[] = [];
  for (const child of tree.children) {
    if (child.kind === "group") children.push(completed(child));
    else if (!needsValue(child.operator) || child.value !== null) children.push(child);
  }
  return { ...tree, children };
}
