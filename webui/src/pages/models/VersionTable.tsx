// The versions of a model, newest first; two or more are chosen to be compared, and the choice is in the address.
import type { Schemas } from "../../api/schema";
import { useApi } from "../../api/useApi";
import css from "../../detail/detail.module.css";
import { Pager } from "../../detail/WorkloadTable";
import { Button } from "../../ui/Button";
import { Card } from "../../ui/Card";
import { Checkbox } from "../../ui/Checkbox";
import { CopyCommand } from "../../ui/CopyCommand";
import { DataTable } from "../../ui/DataTable";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { ago, metricNumber, plural } from "../../ui/format";
import { Skeleton } from "../../ui/Skeleton";
import { useShortcut } from "../../ui/useShortcut";
import { idRanges, int, Link, navigate, useUrlState } from "../../url";
import { comparePath } from "./compare";
import own from "./models.module.css";

type Model = Schemas["Model"];
type Version = Schemas["ModelVersion"];

const PAGE = 50;
const NONE: number[] = [];

export function VersionTable({ model }: { model: Model }) {
  const [offset, setOffset] = useUrlState("offset", int, 0);
  const [chosen, setChosen] = useUrlState("sel", idRanges, NONE);
  const found = useApi(
    "listModelVersions",
    {
      path: { model_name: String(model.id) },
      query: { limit: PAGE, offset, sortBy: "SORT_BY_VERSION", orderBy: "ORDER_BY_DESC" },
    },
    { keepPrevious: true },
  );
  const versions = found.data?.modelVersions ?? [];
  const isEnough = chosen.length > 1;
  const compare = () => navigate(comparePath(model.id, chosen));
  useShortcut("c", "Compare the chosen versions", compare, isEnough);
  return (
    <Card
      title="Versions"
      actions={
        versions.length > 1 && (
          <>
            {!isEnough && <span className={css["muted"]}>Choose two or more to compare</span>}
            <Button isDisabled={!isEnough} onPress={compare}>
              {isEnough ? `Compare ${plural(chosen.length, "version")}` : "Compare"}
            </Button>
          </>
        )
      }
    >
      {found.error && <ErrorCard error={found.error} onRetry={found.refetch} />}
      {found.isPending && <Skeleton rows={3} />}
      {found.data && versions.length === 0 && <NoVersions model={model} />}
      {versions.length > 0 && <Rows model={model} versions={versions} chosen={chosen} onChoose={setChosen} />}
      <Pager offset={offset} total={found.data?.pagination.total ?? versions.length} page={PAGE} onMove={setOffset} />
    </Card>
  );
}

function NoVersions({ model }: { model: Model }) {
  if (model.archived) return <Empty title="No versions">It is archived and takes none. Unarchive it first.</Empty>;
  return (
    <Empty title="No versions yet">
      <p>Open the checkpoints of an experiment or a trial and press “Register…” beside one. The same by a command:</p>
      <CopyCommand text={`det model register-version ${model.id} UUID`} />
    </Empty>
  );
}

interface RowsProps {
  model: Model;
  versions: readonly Version[];
  chosen: number[];
  onChoose: (chosen: number[]) => void;
}

function Rows({ model, versions, chosen, onChoose }: RowsProps) {
  const toggle = (version: number, isChosen: boolean) =>
    onChoose(isChosen ? [...chosen, version] : chosen.filter((one) => one !== version));
  return (
    <DataTable
      caption="Versions"
      hidesCaption
      rows={versions}
      rowKey={(row) => row.version}
      columns={[
        {
          key: "chosen",
          label: <span className="visually-hidden">Compare</span>,
          render: ({ version }) => (
            <Checkbox
              aria-label={`Compare version ${version}`}
              isSelected={chosen.includes(version)}
              onChange={(isChosen) => toggle(version, isChosen)}
            />
          ),
        },
        { key: "version", label: "Version", render: (row) => <Name model={model} row={row} /> },
        { key: "number", label: "Number", align: "right", isMinor: true, render: (row) => row.version },
        { key: "aliases", label: "Aliases", render: (row) => (row.aliases ?? []).join(", ") },
        { key: "labels", label: "Labels", isMinor: true, render: (row) => (row.labels ?? []).join(", ") },
        {
          key: "metric",
          label: "Searcher metric",
          align: "right",
          render: (row) => metricNumber(row.checkpoint.training.searcherMetric),
        },
        { key: "trial", label: "Trial", isMinor: true, render: (row) => row.checkpoint.training.trialId ?? "" },
        { key: "created", label: "Registered", isMinor: true, render: (row) => ago(row.creationTime) },
        { key: "username", label: "By", isMinor: true },
      ]}
    />
  );
}

function Name({ model, row }: { model: Model; row: Version }) {
  return (
    <span className={own["name"]}>
      <Link href={`/models/${model.id}/versions/${row.version}`}>{row.name || `Version ${row.version}`}</Link>
      {row.comment && <span className={own["about"]}>{row.comment}</span>}
    </span>
  );
}
