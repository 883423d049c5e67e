// Hyperparameters of a trial as a table, nested ones under dotted names.

import { DataTable } from "../ui/DataTable";
import { Empty } from "../ui/Empty";
import { flatten, textOf } from "./hparams";

export function Hyperparameters({ hparams }: { hparams: Record<string, unknown> }) {
  const rows = Object.entries(flatten(hparams)).map(([name, value]) => ({ name, value: textOf(value) }));
  if (rows.length === 0) return <Empty title="No hyperparameters">The configuration names none.</Empty>;
  return (
    <DataTable
      caption="Hyperparameters"
      hidesCaption
      rows={rows}
      rowKey={(row) => row.name}
      columns={[
        { key: "name", label: "Name", render: (row) => row.name },
        { key: "value", label: "Value", render: (row) => <code>{row.value}</code> },
      ]}
    />
  );
}
