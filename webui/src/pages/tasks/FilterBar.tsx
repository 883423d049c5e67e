// The filters above the list: words, kind, state, workspace, whose.
import { useApi } from "../../api/useApi";
import { KINDS, TITLES } from "../../task/kinds";
import { SearchField } from "../../ui/SearchField";
import { Select } from "../../ui/Select";
import { Switch } from "../../ui/Switch";
import { kindInAddress, STATE_WORDS, STATES } from "./filters";
import css from "./tasks.module.css";
import type { FilterState } from "./useFilters";

const MOST = 1000;

export function FilterBar({ filters, change }: Pick<FilterState, "filters" | "change">) {
  return (
    <div className={css["bar"]}>
      <div className={css["words"]}>
        <SearchField
          label="Find a task by name, user, pool or id"
          value={filters.text}
          onChange={(text) => change({ text })}
        />
      </div>
      <Select
        label="Kind"
        hidesLabel
        value={filters.kind}
        options={[{ id: "", label: "every kind" }, ...KINDS.map((kind) => ({ id: kind, label: TITLES[kind] }))]}
        onChange={(kind) => change({ kind: kindInAddress(kind) })}
      />
      <Select
        label="State"
        hidesLabel
        value={filters.state}
        options={STATES.map((state) => ({ id: state, label: STATE_WORDS[state] }))}
        onChange={(id) => change({ state: STATES.find((one) => one === id) ?? "any" })}
      />
      <WorkspaceSelect value={filters.workspaceId} onChange={(workspaceId) => change({ workspaceId })} />
      {filters.isOfAll && <UserSelect value={filters.userId} onChange={(userId) => change({ userId })} />}
      <Switch isSelected={filters.isOfAll} onChange={(isOfAll) => change({ isOfAll })}>
        All users
      </Switch>
    </div>
  );
}

function WorkspaceSelect({ value, onChange }: { value: number; onChange: (id: number) => void }) {
  const workspaces = useApi("listWorkspaces", { query: { limit: MOST } }, { staleTime: 60_000 });
  const options = (workspaces.data?.workspaces ?? []).map(({ id, name }) => ({ id: String(id), label: name }));
  return (
    <Select
      label="Workspace"
      hidesLabel
      value={String(value)}
      options={withUnknown(value, [{ id: "0", label: "every workspace" }, ...options])}
      onChange={(id) => onChange(Number(id))}
    />
  );
}

function UserSelect({ value, onChange }: { value: number; onChange: (id: number) => void }) {
  const users = useApi("listUsers", { query: { limit: MOST } }, { staleTime: 60_000 });
  const options = (users.data?.users ?? []).map((user) => ({
    id: String(user.id),
    label: user.displayName || user.username,
  }));
  return (
    <Select
      label="User"
      hidesLabel
      value={String(value)}
      options={withUnknown(value, [{ id: "0", label: "every user" }, ...options])}
      onChange={(id) => onChange(Number(id))}
    />
  );
}

/** What the address names is shown, also before its name is known. */
function withUnknown(value: number, options: { id: string; label: string }[]) {
  return options.some(({ id }) => id === String(value))
    ? options
    : [...options, { id: String(value), label: `${value}` }];
}
