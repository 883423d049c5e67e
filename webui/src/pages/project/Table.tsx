// The table, once its columns are known: toolbar, builder, picker, and rows or groups as the address says.
import { Columns3, ListFilter } from "lucide-react";
import { useMemo, useState } from "react";
import type { Catalogue } from "../../query/catalogue";
import { type Filter, fieldsOf } from "../../query/filter";
import { parse } from "../../query/parse";
import { Button } from "../../ui/Button";
import { Menu } from "../../ui/Menu";
import { Switch } from "../../ui/Switch";
import { ColumnPicker } from "./ColumnPicker";
import { FilterBuilder } from "./FilterBuilder";
import { GroupTable } from "./GroupTable";
import css from "./project.module.css";
import { QueryBar } from "./QueryBar";
import { RowTable } from "./RowTable";
import type { Kind } from "./rowValues";
import { labelOf } from "./tableColumns";
import { type TableState, useTableState } from "./tableState";

interface TableProps {
  projectId: number;
  kind: Kind;
  catalogue: Catalogue;
}

export function Table({ projectId, kind, catalogue }: TableProps) {
  const state = useTableState(kind, catalogue);
  const [isBuilding, setBuilding] = useState(false);
  const [isPicking, setPicking] = useState(false);
  const filter = useFilter(state, catalogue);
  const isGrouped = kind === "run" && state.groupBy.length > 0 && state.groupsQuery === null;
  return (
    <>
      <div className={css["toolbar"]}>
        <QueryBar
          projectId={projectId}
          kind={kind}
          query={state.query}
          catalogue={catalogue}
          onQuery={state.setQuery}
        />
        <Button
          icon={<ListFilter size={14} aria-hidden="true" />}
          aria-pressed={isBuilding}
          onPress={() => setBuilding(!isBuilding)}
        >
          Filter
        </Button>
        <Button icon={<Columns3 size={14} aria-hidden="true" />} onPress={() => setPicking(true)}>
          Columns
        </Button>
        {kind === "run" && <GroupMenu state={state} catalogue={catalogue} />}
        <Switch isSelected={state.showArchived} onChange={state.setShowArchived}>
          Archived
        </Switch>
        {kind === "run" && (
          <Switch isSelected={state.pane === "charts"} onChange={(isOn) => state.setPane(isOn ? "charts" : "none")}>
            Charts
          </Switch>
        )}
      </div>
      {isBuilding && (
        <FilterBuilder
          projectId={projectId}
          kind={kind}
          tree={filter?.filterGroup ?? null}
          catalogue={catalogue}
          onQuery={state.setQuery}
        />
      )}
      {isPicking && (
        <ColumnPicker
          kind={kind}
          catalogue={catalogue}
          columns={state.columns}
          onColumns={state.setColumns}
          onClose={() => setPicking(false)}
        />
      )}
      {state.groupsQuery !== null && (
        <p className={css["note"]}>
          Trials of one group by {state.groupBy.map((key) => labelOf(key, catalogue.find(key))).join(", ")}.{" "}
          <Button onPress={state.closeGroup}>Back to the groups</Button>
        </p>
      )}
      {isGrouped && filter ? (
        <GroupTable projectId={projectId} filter={filter} catalogue={catalogue} state={state} />
      ) : (
        <RowTable projectId={projectId} kind={kind} catalogue={catalogue} state={state} filter={filter} />
      )}
    </>
  );
}

/** Null while the query line cannot be read. Who asks for archived ones is shown them. */
function useFilter(state: TableState, catalogue: Catalogue): Filter | null {
  const { query, showArchived } = state;
  return useMemo(() => {
    const { filter } = parse(query, catalogue, Date.now());
    if (!filter) return null;
    const asksForArchived = [...fieldsOf(filter)].some((field) => field.columnName === "archived");
    return { filterGroup: filter, showArchived: showArchived || asksForArchived };
  }, [query, showArchived, catalogue]);
}

function GroupMenu({ state, catalogue }: { state: TableState; catalogue: Catalogue }) {
  const offered = catalogue.columns.filter(
    (one) =>
      one.kind === "data" || ["state", "user", "resourcePool", "experimentName", "searcherType"].includes(one.name),
  );
  const items = offered.slice(0, 40).map((one) => {
    const isOn = state.groupBy.includes(one.name);
    return {
      id: one.name,
      label: `${isOn ? "✓ " : ""}${labelOf(one.name, one)}`,
      onAction: () =>
        state.setGroupBy(isOn ? state.groupBy.filter((key) => key !== one.name) : [...state.groupBy, one.name]),
    };
  });
  const none = {
    id: " none",
    label: "No groups",
    onAction: () => state.setGroupBy([]),
    isDisabled: state.groupBy.length === 0,
  };
  return (
    <Menu
      label={state.groupBy.length === 0 ? "Group" : `Group: ${state.groupBy.join(", ")}`}
      items={[none, ...items]}
    />
  );
}
