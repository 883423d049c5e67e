// What is in a checkpoint: files with sizes, metadata, and how to fetch it.

import { CopyCommand } from "../ui/CopyCommand";
import { DataTable } from "../ui/DataTable";
import { bytes, jsonText } from "../ui/format";
import css from "./detail.module.css";
import { Facts } from "./Facts";
import type { Checkpoint } from "./types";

export function CheckpointFiles({ checkpoint }: { checkpoint: Checkpoint }) {
  const files = Object.entries(checkpoint.resources).map(([path, size]) => ({ path, size: Number(size) }));
  const { trialId, experimentId } = checkpoint.training;
  return (
    <div className={css["stack"]}>
      <Facts
        facts={[
          { name: "Size", value: bytes(sizeOf(checkpoint)) },
          trialId ? { name: "Trial", value: trialId } : null,
          experimentId ? { name: "Experiment", value: experimentId } : null,
        ]}
      />
      <CopyCommand text={`det checkpoint download ${checkpoint.uuid}`} />
      <DataTable
        caption="Files"
        rows={files}
        rowKey={(row) => row.path}
        columns={[
          { key: "path", label: "File", render: (row) => <code>{row.path}</code> },
          {
            key: "size",
            label: "Size",
            align: "right",
            render: (row) => (row.path.endsWith("/") ? "" : bytes(row.size)),
          },
        ]}
      />
      <h3>Metadata</h3>
      <pre className={css["json"]}>{jsonText(checkpoint.metadata)}</pre>
    </div>
  );
}

// A deleted one shows what it held, and takes no room.
export function sizeOf(checkpoint: Checkpoint): number {
  if (checkpoint.state === "STATE_DELETED") return 0;
  return Object.values(checkpoint.resources).reduce((sum, size) => sum + Number(size), 0);
}
