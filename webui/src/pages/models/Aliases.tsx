// Names that point at versions of a model: set, moved, removed, with their history.
import { useState } from "react";
import { call } from "../../api/client";
import type { Operations, Schemas } from "../../api/schema";
import { useAct, useApi } from "../../api/useApi";
import css from "../../detail/detail.module.css";
import { Button } from "../../ui/Button";
import { Card } from "../../ui/Card";
import { DataTable } from "../../ui/DataTable";
import { ErrorCard } from "../../ui/ErrorCard";
import { ago } from "../../ui/format";
import { Select } from "../../ui/Select";
import { TextField } from "../../ui/TextField";
import { Link } from "../../url";

type Model = Schemas["Model"];

const ALIASES: (keyof Operations)[] = [
  "listModelAliases",
  "listModelAliasHistory",
  "getModel",
  "listModels",
  "listModelVersions",
];

export function Aliases({ model }: { model: Model }) {
  const path = { model_name: String(model.id) };
  const history = useApi("listModelAliasHistory", { path, query: { limit: 50, orderBy: "ORDER_BY_DESC" } });
  const changes = history.data?.changes ?? [];
  return (
    <Card title="Aliases">
      {!model.archived && model.numVersions > 0 && <AliasForm model={model} />}
      <AliasTable model={model} />
      {history.error && <ErrorCard error={history.error} onRetry={history.refetch} />}
      {changes.length > 0 && (
        <DataTable
          caption="History of aliases, newest first"
          rows={changes}
          rowKey={(row) => row.id}
          columns={[
            { key: "alias", label: "Alias" },
            { key: "from", label: "From", render: (row) => row.previousVersion ?? "new" },
            { key: "to", label: "To", render: (row) => row.version ?? "removed" },
            { key: "username", label: "By" },
            { key: "time", label: "When", render: (row) => ago(row.time) },
          ]}
        />
      )}
      {model.numVersions === 0 && <p className={css["muted"]}>An alias names a version; there is none yet.</p>}
    </Card>
  );
}

function AliasTable({ model }: { model: Model }) {
  const act = useAct();
  const found = useApi("listModelAliases", { path: { model_name: String(model.id) } });
  const aliases = found.data?.aliases ?? [];
  const remove = ({ alias, version }: Schemas["ModelAlias"]) => {
    const path = { model_name: String(model.id), alias };
    return act({
      label: `Removed alias ${alias}; version ${version} stays`,
      run: () => call("removeModelAlias", { path }),
      undo: () => call("putModelAlias", { path, body: { version, expectedVersion: 0 } }),
      invalidate: ALIASES,
    });
  };
  if (found.error) return <ErrorCard error={found.error} onRetry={found.refetch} />;
  if (aliases.length === 0) return null;
  return (
    <DataTable
      caption="Aliases now"
      rows={aliases}
      rowKey={(row) => row.alias}
      columns={[
        { key: "alias", label: "Alias" },
        {
          key: "version",
          label: "Version",
          align: "right",
          render: ({ version }) => <Link href={`/models/${model.id}/versions/${version}`}>{version}</Link>,
        },
        { key: "username", label: "Set by", isMinor: true },
        { key: "time", label: "When", isMinor: true, render: (row) => ago(row.setTime) },
        {
          key: "act",
          label: <span className="visually-hidden">Actions</span>,
          align: "right",
          render: (row) => (
            <Button
              isDisabled={model.archived}
              onPress={() => void remove(row)}
              aria-label={`Remove alias ${row.alias}`}
            >
              Remove
            </Button>
          ),
        },
      ]}
    />
  );
}

/** Points an alias to a version; refused when somebody else has moved it since this page was read. */
function AliasForm({ model }: { model: Model }) {
  const versions = useApi("listModelVersions", {
    path: { model_name: String(model.id) },
    query: { limit: 500, sortBy: "SORT_BY_VERSION", orderBy: "ORDER_BY_DESC" },
  });
  const [alias, setAlias] = useState("production");
  const [picked, setPicked] = useState<string | null>(null);
  const act = useAct();
  const numbers = (versions.data?.modelVersions ?? []).map(({ version }) => String(version));
  const to = picked !== null && numbers.includes(picked) ? picked : (numbers[0] ?? "");
  const expectedVersion = model.aliases?.[alias.trim()] ?? 0;
  const set = () =>
    act({
      label: `${model.name}:${alias.trim()} is now version ${to}`,
      run: () =>
        call("putModelAlias", {
          path: { model_name: String(model.id), alias: alias.trim() },
          body: { version: Number(to), expectedVersion },
        }),
      invalidate: ALIASES,
    });
  return (
    <div className={css["controls"]}>
      <TextField label="Alias" value={alias} onChange={setAlias} />
      <Select
        label="Version"
        value={to}
        options={numbers.map((number) => ({ id: number, label: number }))}
        onChange={setPicked}
      />
      <Button isDisabled={alias.trim() === "" || to === ""} onPress={() => void set()}>
        {expectedVersion > 0 ? "Move alias" : "Set alias"}
      </Button>
    </div>
  );
}
