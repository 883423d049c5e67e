// Registers a checkpoint as the next version of a model, which is found by its name or made here.
import { useState } from "react";
import { call } from "../api/client";
import type { Schemas } from "../api/schema";
import { queryClient } from "../api/useApi";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { errorText } from "../ui/errorText";
import { Switch } from "../ui/Switch";
import { TextField } from "../ui/TextField";
import { Link, navigate } from "../url";
import { FormDialog } from "./FormDialog";
import { labelsOf } from "./labels";
import { ModelFields } from "./ModelFields";
import { ModelPicker, type PickedModel } from "./ModelPicker";
import { blankModel, createModel } from "./newModel";
import { RegisteredAs } from "./RegisteredAs";
import css from "./registry.module.css";

type Version = Schemas["ModelVersion"];

interface RegisterDialogProps {
  uuid: string;
  workspaceId?: number | undefined;
  onClose: () => void;
}

export function RegisterDialog({ uuid, workspaceId, onClose }: RegisterDialogProps) {
  const [made, setMade] = useState<Version | null>(null);
  if (made !== null) return <Done version={made} onClose={onClose} />;
  return <Ask uuid={uuid} workspaceId={workspaceId} onMade={setMade} onClose={onClose} />;
}

function Ask({ uuid, workspaceId, onMade, onClose }: RegisterDialogProps & { onMade: (made: Version) => void }) {
  const [isNew, setNew] = useState(false);
  const [picked, setPicked] = useState<PickedModel | null>(null);
  const [draft, setDraft] = useState(() => blankModel(workspaceId));
  const [about, setAbout] = useState({ name: "", comment: "", labels: "" });
  const send = async () => {
    const model = isNew ? await createModel(draft) : picked;
    if (model === null) return;
    if (isNew) {
      // should registering fail now, the next try takes the model that is there
      setPicked({ id: model.id, name: model.name });
      setNew(false);
    }
    onMade(await register(model, uuid, about));
  };
  return (
    <FormDialog
      title={`Register checkpoint ${uuid.slice(0, 8)}`}
      verb="Register"
      isReady={isNew ? draft.name.trim() !== "" : picked !== null}
      onSend={send}
      onClose={onClose}
    >
      {(error) => (
        <>
          <RegisteredAs uuid={uuid} />
          <Switch isSelected={isNew} onChange={setNew}>
            Create a new model for it
          </Switch>
          {isNew ? (
            <ModelFields draft={draft} onChange={setDraft} error={error} autoFocus />
          ) : (
            <ModelPicker picked={picked} onPick={setPicked} />
          )}
          <TextField
            label="Name of the version"
            value={about.name}
            onChange={(name) => setAbout({ ...about, name })}
            description="May be left empty: the number names it."
          />
          <TextField
            label="Comment"
            value={about.comment}
            onChange={(comment) => setAbout({ ...about, comment })}
            rows={2}
          />
          <TextField
            label="Labels of the version"
            value={about.labels}
            onChange={(labels) => setAbout({ ...about, labels })}
            description="Separated by commas."
          />
          {!isNew && error !== null && (
            <p role="alert" className={css["error"]}>
              ✕ {error}
            </p>
          )}
        </>
      )}
    </FormDialog>
  );
}

async function register(
  model: PickedModel,
  checkpointUuid: string,
  about: { name: string; comment: string; labels: string },
): Promise<Version> {
  const body = {
    checkpointUuid,
    name: about.name.trim(),
    comment: about.comment.trim(),
    labels: labelsOf(about.labels),
  };
  try {
    const { modelVersion } = await call("registerModelVersion", { path: { model_name: String(model.id) }, body });
    for (const op of ["listCheckpointVersions", "listModels", "listModelVersions"])
      void queryClient.invalidateQueries({ queryKey: [op] });
    return modelVersion;
  } catch (error) {
    throw new Error(`Not registered in model ${model.name}: ${errorText(error)}`);
  }
}

function Done({ version, onClose }: { version: Version; onClose: () => void }) {
  const path = `/models/${version.model.id}/versions/${version.version}`;
  return (
    <Dialog
      title="Registered"
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Close</Button>
          <Button kind="primary" onPress={() => navigate(path)}>
            Open the version
          </Button>
        </>
      }
    >
      <p role="status" className={css["done"]}>
        <span>
          The checkpoint is now{" "}
          <Link href={path}>
            version {version.version} of <span>{version.model.name}</span>
          </Link>
          .
        </span>
        <span>Its files are kept until the version is deleted.</span>
      </p>
    </Dialog>
  );
}
