// How a pool schedules and who may use it.
import type { Schemas } from "../../api/schema";
import { useApi } from "../../api/useApi";
import { Card } from "../../ui/Card";
import { DataTable } from "../../ui/DataTable";
import { Link } from "../../url";
import type { Pool } from "./queue";

export function PoolConfiguration({ pool }: { pool: Pool }) {
  const bindings = useApi("listPoolBindings", { path: { pool: pool.name } });
  const ids = bindings.data?.workspaceIds ?? [];
  const workspaces = useApi("listWorkspaces", { query: { limit: 1000 } }, { enabled: ids.length > 0 });
  const bound = (workspaces.data?.workspaces ?? []).filter(({ id }) => ids.includes(id));
  return (
    <Card title="Configuration">
      <DataTable
        caption={`Configuration of pool ${pool.name}`}
        hidesCaption
        columns={COLUMNS}
        rows={factsOf(pool)}
        rowKey={(row) => row.name}
      />
      <p>
        {ids.length === 0 ? "Every workspace may use it." : "Reserved for: "}
        {bound.map((workspace, index) => (
          <span key={workspace.id}>
            {index > 0 && ", "}
            <Link href={`/workspaces/${workspace.id}`}>{workspace.name}</Link>
          </span>
        ))}
      </p>
    </Card>
  );
}

const COLUMNS = [
  { key: "name", label: "Setting" },
  { key: "value", label: "Value" },
];

function factsOf(pool: Pool): { name: string; value: string }[] {
  const priority = pool.details.priorityScheduler;
  return [
    { name: "Description", value: pool.description },
    { name: "Scheduler", value: words(pool.schedulerType, "SCHEDULER_TYPE_") },
    { name: "Fitting", value: words(pool.schedulerFittingPolicy, "FITTING_POLICY_") },
    { name: "Preemption", value: priority ? (priority.preemption ? "yes" : "no") : "" },
    { name: "Default priority", value: priority ? String(priority.defaultPriority) : "" },
    { name: "Kind of slots", value: words(pool.slotType, "TYPE_") },
    { name: "Agents", value: String(pool.numAgents) },
    { name: "Slots per agent", value: pool.slotsPerAgent ? String(pool.slotsPerAgent) : "" },
    { name: "Default for training", value: pool.defaultComputePool ? "yes" : "no" },
    { name: "Default for tasks without slots", value: pool.defaultAuxPool ? "yes" : "no" },
  ].filter(({ value }) => value !== "");
}

function words(
  name: Schemas["SchedulerType"] | Schemas["FittingPolicy"] | Schemas["DeviceType"],
  prefix: string,
): string {
  return name.replace(prefix, "").toLowerCase().replaceAll("_", " ");
}
