// A workspace by name.
import { useApi } from "../api/useApi";
import { Select } from "../ui/Select";

export interface WorkspaceSelectProps {
  value: number;
  onChange: (id: number) => void;
  label?: string | undefined;
  /** Offered before the workspaces, as number 0. */
  none?: string | undefined;
}

export function WorkspaceSelect({ value, onChange, label = "Workspace", none }: WorkspaceSelectProps) {
  const workspaces = useApi("listWorkspaces", { query: { archived: false, limit: 1000 } }, { staleTime: 60_000 });
  const known = (workspaces.data?.workspaces ?? []).map((one) => ({ id: String(one.id), label: one.name }));
  const first = none === undefined ? [] : [{ id: "0", label: none }];
  const isUnknown = value !== 0 && !known.some(({ id }) => id === String(value));
  const options = [...first, ...known, ...(isUnknown ? [{ id: String(value), label: String(value) }] : [])];
  return <Select label={label} value={String(value)} options={options} onChange={(id) => onChange(Number(id))} />;
}
