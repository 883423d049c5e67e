// Versions of a model side by side: metrics against a base, where each comes from, and the way to their trials' charts.
import { useQueries } from "@tanstack/react-query";
import { useMemo } from "react";
import { call } from "../../api/client";
import { useLive } from "../../api/live";
import type { Schemas } from "../../api/schema";
import { keyOf, useApi } from "../../api/useApi";
import css from "../../detail/detail.module.css";
import { Button } from "../../ui/Button";
import { DataTable } from "../../ui/DataTable";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { ago, metricNumber, plural } from "../../ui/format";
import { Page } from "../../ui/Page";
import { Select } from "../../ui/Select";
import { Skeleton } from "../../ui/Skeleton";
import { idRanges, int, Link, useUrlState } from "../../url";
import { trialsOf } from "./compare";
import { MetricComparison } from "./MetricComparison";

type Version = Schemas["ModelVersion"];

const MOST = 20;
const NONE: number[] = [];

export default function CompareVersionsPage({ id }: { id: string }) {
  useLive({ models: "all", modelversions: "all" });
  const [chosen, setChosen] = useUrlState("versions", idRanges, NONE);
  const [base, setBase] = useUrlState("base", int, 0);
  const path = { model_name: id };
  const list = useApi("listModelVersions", {
    path,
    query: { limit: 500, sortBy: "SORT_BY_VERSION", orderBy: "ORDER_BY_DESC" },
  });
  const shown = chosen.slice(0, MOST);
  const answers = useVersions(id, shown);
  const versions = answers.flatMap(({ data }) => (data ? [data.modelVersion] : []));
  const errors = answers.flatMap(({ error }) => (error ? [error] : []));
  const isPending = answers.some((one) => one.isPending);
  const model = list.data?.model;
  const rest = (list.data?.modelVersions ?? []).filter(({ version }) => !chosen.includes(version));
  const first = versions.find(({ version }) => version === base) ?? versions[0];
  return (
    <Page
      title={`Compare versions${model ? ` of ${model.name}` : ""}`}
      heading="Compare versions"
      crumbs={[
        { label: "Models", href: "/models" },
        { label: model?.name ?? id, href: `/models/${id}` },
      ]}
    >
      <div className={css["stack"]}>
        {list.error && <ErrorCard error={list.error} onRetry={list.refetch} />}
        <div className={css["controls"]}>
          <Select
            label="Add a version"
            value=""
            options={[
              { id: "", label: "choose…" },
              ...rest.map((one) => ({ id: String(one.version), label: nameOf(one) })),
            ]}
            onChange={(version) => version !== "" && setChosen([...chosen, Number(version)])}
            isDisabled={rest.length === 0 || chosen.length >= MOST}
          />
          {versions.length > 1 && first && (
            <Select
              label="Against"
              value={String(first.version)}
              options={versions.map((one) => ({ id: String(one.version), label: nameOf(one) }))}
              onChange={(version) => setBase(Number(version))}
            />
          )}
        </div>
        {chosen.length > MOST && (
          <p role="status">
            Only the first {MOST} of {chosen.length} versions are compared.
          </p>
        )}
        {errors.map((error) => (
          <ErrorCard key={error.message} error={error} />
        ))}
        {chosen.length < 2 && (
          <Empty title="Choose at least two versions">
            Above, or in the list of versions of <Link href={`/models/${id}`}>the model</Link>.
          </Empty>
        )}
        {isPending && <Skeleton rows={6} />}
        {versions.length > 0 && (
          <Sources versions={versions} onRemove={(version) => setChosen(chosen.filter((one) => one !== version))} />
        )}
        {versions.length > 1 && first && <MetricComparison versions={versions} base={first.version} />}
      </div>
    </Page>
  );
}

function useVersions(id: string, versions: readonly number[]) {
  return useQueries({
    queries: versions.map((version) => {
      const params = { path: { model_name: id, version: String(version) } };
      return {
        queryKey: keyOf("getModelVersion", params),
        queryFn: ({ signal }: { signal: AbortSignal }) => call("getModelVersion", params, signal),
      };
    }),
  });
}

function Sources({ versions, onRemove }: { versions: readonly Version[]; onRemove: (version: number) => void }) {
  const trials = useMemo(() => trialsOf(versions.map((one) => one.checkpoint.training.trialId)), [versions]);
  return (
    <>
      <DataTable
        caption="Versions"
        hidesCaption
        rows={versions}
        rowKey={(row) => row.version}
        columns={[
          {
            key: "version",
            label: "Version",
            render: (row) => <Link href={`/models/${row.model.id}/versions/${row.version}`}>{nameOf(row)}</Link>,
          },
          { key: "aliases", label: "Aliases", render: (row) => (row.aliases ?? []).join(", ") },
          { key: "trial", label: "Trained by", render: (row) => <TrialLink version={row} /> },
          {
            key: "metric",
            label: "Searcher metric",
            align: "right",
            isMinor: true,
            render: (row) => metricNumber(row.checkpoint.training.searcherMetric),
          },
          { key: "created", label: "Registered", isMinor: true, render: (row) => ago(row.creationTime) },
          {
            key: "act",
            label: <span className="visually-hidden">Actions</span>,
            align: "right",
            render: ({ version }) => (
              <Button onPress={() => onRemove(version)} aria-label={`Remove version ${version} from the comparison`}>
                Remove
              </Button>
            ),
          },
        ]}
      />
      {trials.length > 1 && (
        <p>
          <Link href={`/compare?trials=${idRanges.print(trials)}&base=${trials[0]}`}>
            Compare their {plural(trials.length, "trial")}
          </Link>
          : charts over one another, hyperparameters, code and environments.
        </p>
      )}
    </>
  );
}

function TrialLink({ version }: { version: Version }) {
  const { experimentId, trialId } = version.checkpoint.training;
  if (!experimentId || !trialId) return "";
  return <Link href={`/experiments/${experimentId}/trials/${trialId}/metrics`}>Charts of trial {trialId}</Link>;
}

export function nameOf({ version, name }: { version: number; name?: string | null | undefined }): string {
  return name ? `${version} · ${name}` : `Version ${version}`;
}
