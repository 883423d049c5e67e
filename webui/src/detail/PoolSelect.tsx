// A resource pool by name, with how much of it is free.
import { useApi } from "../api/useApi";
import { Select } from "../ui/Select";

/** Empty: the default pool. */
export function PoolSelect({ value, onChange }: { value: string; onChange: (pool: string) => void }) {
  const pools = useApi("listPools", undefined, { staleTime: 30_000 });
  const names = (pools.data?.resourcePools ?? []).map((pool) => ({
    id: pool.name,
    label: `${pool.name} (${pool.slotsAvailable - pool.slotsUsed} of ${pool.slotsAvailable} free)`,
  }));
  const isUnknown = value !== "" && !names.some(({ id }) => id === value);
  const options = [{ id: "", label: "default pool" }, ...names, ...(isUnknown ? [{ id: value, label: value }] : [])];
  return <Select label="Resource pool" value={value} options={options} onChange={onChange} />;
}
