// Which columns are shown: search, by place, in order; the same as dragging and the menus of headers.
import { ArrowDown, ArrowUp, Pin, PinOff } from "lucide-react";
import { useState } from "react";
import { movedBy } from "../../grid/reorder";
import { type Catalogue, type Column, isMetric } from "../../query/catalogue";
import { Button, IconButton } from "../../ui/Button";
import { Checkbox } from "../../ui/Checkbox";
import { Dialog } from "../../ui/Dialog";
import { count } from "../../ui/format";
import { SearchField } from "../../ui/SearchField";
import { type ShownColumn, TREND, usualColumns } from "./columnList";
import css from "./project.module.css";
import type { Kind } from "./rowValues";
import { detailOf, labelOf } from "./tableColumns";

interface ColumnPickerProps {
  kind: Kind;
  catalogue: Catalogue;
  columns: readonly ShownColumn[];
  onColumns: (columns: ShownColumn[]) => void;
  onClose: () => void;
}

type Section = "General" | "Metrics" | "Hyperparameters" | "Metadata";
const SECTIONS: readonly Section[] = ["General", "Metrics", "Hyperparameters", "Metadata"];
const MOST_LISTED = 100;

export function ColumnPicker({ kind, catalogue, columns, onColumns, onClose }: ColumnPickerProps) {
  const [search, setSearch] = useState("");
  const toggle = (key: string, isShown: boolean) =>
    onColumns(isShown ? [...columns, { key }] : columns.filter((one) => one.key !== key));
  const reset = <Button onPress={() => onColumns(usualColumns(kind, catalogue))}>Back to the usual columns</Button>;
  return (
    <Dialog title="Columns" isWide onClose={onClose} actions={reset}>
      <div className={css["picker"]}>
        <div>
          <SearchField label="Find a column" value={search} onChange={setSearch} />
          {SECTIONS.map((section) => (
            <SectionList
              key={section}
              section={section}
              columns={listed(catalogue, section, search, kind)}
              shown={columns}
              onToggle={toggle}
            />
          ))}
        </div>
        <ol className={css["shownColumns"]} aria-label="Shown, in this order">
          {columns.map((one) => (
            <Shown key={one.key} one={one} columns={columns} catalogue={catalogue} onColumns={onColumns} />
          ))}
        </ol>
      </div>
    </Dialog>
  );
}

interface SectionListProps {
  section: Section;
  columns: readonly Column[];
  shown: readonly ShownColumn[];
  onToggle: (key: string, isShown: boolean) => void;
}

function SectionList({ section, columns, shown, onToggle }: SectionListProps) {
  const [all, setAll] = useState(false);
  if (columns.length === 0) return null;
  return (
    <details open className={css["section"]}>
      <summary>
        {section} <span className={css["note"]}>{count(columns.length)}</span>
      </summary>
      <ul>
        {(all ? columns : columns.slice(0, MOST_LISTED)).map((column) => (
          <li key={column.name}>
            <Checkbox
              isSelected={shown.some((one) => one.key === column.name)}
              onChange={(isShown) => onToggle(column.name, isShown)}
            >
              {labelOf(column.name, column)} <span className={css["note"]}>{detailOf(column) ?? ""}</span>
            </Checkbox>
          </li>
        ))}
      </ul>
      {!all && columns.length > MOST_LISTED && (
        <Button onPress={() => setAll(true)}>Show all {count(columns.length)}</Button>
      )}
    </details>
  );
}

interface ShownProps {
  one: ShownColumn;
  columns: readonly ShownColumn[];
  catalogue: Catalogue;
  onColumns: (columns: ShownColumn[]) => void;
}

function Shown({ one, columns, catalogue, onColumns }: ShownProps) {
  const label = labelOf(one.key, catalogue.find(one.key));
  const pin = () =>
    onColumns(columns.map((other) => (other.key === one.key ? { ...other, pinned: !other.pinned } : other)));
  return (
    <li>
      <span>{label}</span>
      <IconButton label={`Move ${label} up`} onPress={() => onColumns(movedBy(columns, one.key, -1))}>
        <ArrowUp size={14} aria-hidden="true" />
      </IconButton>
      <IconButton label={`Move ${label} down`} onPress={() => onColumns(movedBy(columns, one.key, 1))}>
        <ArrowDown size={14} aria-hidden="true" />
      </IconButton>
      <IconButton
        label={one.pinned ? `Unpin ${label}` : `Pin ${label}`}
        aria-pressed={one.pinned ?? false}
        onPress={pin}
      >
        {one.pinned ? <PinOff size={14} aria-hidden="true" /> : <Pin size={14} aria-hidden="true" />}
      </IconButton>
      <IconButton label={`Hide ${label}`} onPress={() => onColumns(columns.filter((other) => other.key !== one.key))}>
        <span aria-hidden="true">×</span>
      </IconButton>
    </li>
  );
}

const TREND_COLUMN: Column = {
  name: TREND,
  label: "Trend",
  kind: "text",
  location: "LOCATION_TYPE_RUN",
  type: "COLUMN_TYPE_TEXT",
};

function listed(catalogue: Catalogue, section: Section, search: string, kind: Kind): Column[] {
  const wanted = search.toLowerCase();
  const all = section === "General" && kind === "run" ? [...catalogue.columns, TREND_COLUMN] : catalogue.columns;
  return all.filter((column) => sectionOf(column) === section && matches(column, wanted));
}

function matches(column: Column, wanted: string): boolean {
  return column.name.toLowerCase().includes(wanted) || labelOf(column.name, column).toLowerCase().includes(wanted);
}

function sectionOf(column: Column): Section {
  if (column.location.includes("HYPERPARAMETERS")) return "Hyperparameters";
  if (column.location.includes("METADATA")) return "Metadata";
  return isMetric(column) ? "Metrics" : "General";
}
