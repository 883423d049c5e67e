// One model: its versions, its aliases with their history, notes and metadata.
import { useActionCommands } from "../../actions/useActionCommands";
import { call } from "../../api/client";
import { useLive } from "../../api/live";
import { useApi } from "../../api/useApi";
import css from "../../detail/detail.module.css";
import { Facts } from "../../detail/Facts";
import { Button } from "../../ui/Button";
import { ErrorCard } from "../../ui/ErrorCard";
import { ago } from "../../ui/format";
import { Menu } from "../../ui/Menu";
import { Page } from "../../ui/Page";
import { Skeleton } from "../../ui/Skeleton";
import { Link, navigate } from "../../url";
import { Aliases } from "./Aliases";
import { LabelsEditor } from "./LabelsEditor";
import { MetadataCard } from "./MetadataCard";
import own from "./models.module.css";
import { NotesCard } from "./NotesCard";
import { MODEL, type Model, type ModelActions, useModelActions } from "./useModelActions";
import { VersionTable } from "./VersionTable";

const CRUMBS = [{ label: "Models", href: "/models" }];

export default function ModelPage({ id }: { id: string }) {
  useLive({ models: "all", modelversions: "all" });
  const found = useApi("getModel", { path: { model_name: id } });
  if (found.data && !found.error) return <Loaded model={found.data.model} />;
  return (
    <Page title={`Model ${id}`} crumbs={CRUMBS}>
      {found.error ? <ErrorCard error={found.error} onRetry={found.refetch} /> : <Skeleton rows={6} />}
    </Page>
  );
}

function Loaded({ model }: { model: Model }) {
  const steer = useModelActions(model, () => navigate("/models", { replace: true }));
  useActionCommands(steer.actions, `model ${model.name}`);
  return (
    <Page title={model.name} crumbs={CRUMBS} actions={<Menu label="Actions" items={steer.actions} />}>
      <div className={css["stack"]}>
        {model.archived && <Archived steer={steer} />}
        <About model={model} steer={steer} />
        <VersionTable key={model.id} model={model} />
        <Aliases model={model} />
        <Texts model={model} />
      </div>
      {steer.dialog}
    </Page>
  );
}

function Archived({ steer }: { steer: ModelActions }) {
  return (
    <div className={own["archived"]}>
      <p role="status">
        This model is archived: it takes no changes and no new versions. Its versions can be read, downloaded and
        described.
      </p>
      <Button onPress={steer.toggleArchived}>Unarchive</Button>
    </div>
  );
}

function About({ model, steer }: { model: Model; steer: ModelActions }) {
  const path = { model_name: String(model.id) };
  return (
    <>
      {model.description ? (
        <p className={own["description"]}>{model.description}</p>
      ) : (
        !model.archived && (
          <div>
            <Button onPress={steer.edit}>Describe it</Button>
          </div>
        )
      )}
      <Facts
        facts={[
          { name: "ID", value: model.id },
          {
            name: "Workspace",
            value: (
              <Link href={`/workspaces/${model.workspaceId}/projects`}>{model.workspaceName ?? model.workspaceId}</Link>
            ),
          },
          { name: "Owner", value: model.username },
          { name: "Created", value: ago(model.creationTime) },
          { name: "Changed", value: ago(model.lastUpdatedTime) },
        ]}
      />
      <LabelsEditor
        key={model.id}
        what={model.name}
        labels={model.labels ?? []}
        write={(labels) => call("patchModel", { path, body: { labels } })}
        invalidate={MODEL}
        isDisabled={model.archived}
      />
    </>
  );
}

function Texts({ model }: { model: Model }) {
  const path = { model_name: String(model.id) };
  return (
    <>
      <NotesCard
        key={`notes ${model.id}`}
        what={`model ${model.id}`}
        notes={model.notes ?? ""}
        isDisabled={model.archived}
        write={(notes, expectedNotes) => call("patchModel", { path, body: { notes, expectedNotes } })}
        invalidate={MODEL}
      />
      <MetadataCard
        key={`metadata ${model.id}`}
        what={`model ${model.id}`}
        metadata={model.metadata}
        isDisabled={model.archived}
        read={async () => (await call("getModel", { path })).model.metadata}
        write={(metadata) => call("patchModel", { path, body: { metadata } })}
        invalidate={MODEL}
      />
    </>
  );
}
