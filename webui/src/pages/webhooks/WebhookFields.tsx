// The fields of a new webhook besides its triggers.
import { Select } from "../../ui/Select";
import { TextField } from "../../ui/TextField";
import { isNamedOnly, type Refusal, type WebhookForm, wordsAt } from "./form";
import type { MayCreate } from "./useMayCreate";
import css from "./webhooks.module.css";

const FORMATS = [
  { id: "json", label: "JSON, signed" },
  { id: "slack", label: "a message for Slack" },
];

export interface WebhookFieldsProps {
  form: WebhookForm;
  onChange: (next: Partial<WebhookForm>) => void;
  refusal: Refusal | null;
  mayCreate: MayCreate;
}

export function WebhookFields({ form, onChange, refusal, mayCreate }: WebhookFieldsProps) {
  const hasAlerts = form.triggers.some(({ kind }) => kind === "alert");
  return (
    <div className={css["side"]}>
      <TextField
        label="Address"
        type="url"
        value={form.url}
        onChange={(url) => onChange({ url })}
        placeholder="https://example.com/hook"
        description="Where the master sends to. Public addresses only, unless the master's config allows others."
        error={wordsAt(refusal, "url")}
        isRequired
      />
      <TextField
        label="Name"
        value={form.name}
        onChange={(name) => onChange({ name })}
        description="By it an experiment's configuration chooses the webhook."
        error={wordsAt(refusal, "name")}
      />
      <Select
        label="Sends"
        value={form.isSlack ? "slack" : "json"}
        options={FORMATS}
        onChange={(id) => onChange({ isSlack: id === "slack" })}
      />
      <Select
        label="Workspace"
        value={String(form.workspaceId)}
        options={placesOf(mayCreate)}
        onChange={(id) => onChange({ workspaceId: Number(id) })}
      />
      {!mayCreate.inCluster && <p className={css["hint"]}>Webhooks of all workspaces are for administrators.</p>}
      <Select
        label="Called for"
        value={isNamedOnly(form) ? "named" : "every"}
        options={[
          { id: "every", label: "every experiment and task there", isDisabled: hasAlerts },
          { id: "named", label: "experiments that name it" },
        ]}
        onChange={(id) => onChange({ isSpecific: id === "named" })}
      />
      {hasAlerts && <p className={css["hint"]}>Alerts go only to webhooks that an experiment names.</p>}
    </div>
  );
}

function placesOf({ workspaces, inCluster }: MayCreate) {
  const own = (workspaces ?? []).map(({ id, name }) => ({ id: String(id), label: name }));
  return [{ id: "0", label: "all workspaces", isDisabled: !inCluster }, ...own];
}
