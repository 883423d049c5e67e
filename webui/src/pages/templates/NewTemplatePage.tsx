// A new template: name, workspace, text.
import { useState } from "react";
import { WorkspaceSelect } from "../../detail/WorkspaceSelect";
import { Button } from "../../ui/Button";
import { Card } from "../../ui/Card";
import { CodeEditor } from "../../ui/CodeEditor";
import { errorText } from "../../ui/errorText";
import { Page } from "../../ui/Page";
import { TextField } from "../../ui/TextField";
import { int, navigate, useUrlState } from "../../url";
import { pathOf } from "./fields";
import { TemplateCheckCard } from "./TemplateCheckCard";
import css from "./templates.module.css";
import { useTemplateActions } from "./useTemplateActions";
import { useTemplateCheck } from "./useTemplateCheck";

const CRUMBS = [{ label: "Templates", href: "/templates" }];
const EXAMPLE = `environment:
  environment_variables:
    - NCCL_DEBUG=INFO
resources:
  priority: 50
`;

export default function NewTemplatePage() {
  const [start] = useUrlState("workspace", int, 1);
  const [workspaceId, setWorkspace] = useState(start);
  const [name, setName] = useState("");
  const [text, setText] = useState(EXAMPLE);
  const [error, setError] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);
  const check = useTemplateCheck(text);
  const { createTemplate } = useTemplateActions();
  const create = async () => {
    setSending(true);
    try {
      await createTemplate(name.trim(), check.config ?? {}, workspaceId);
      navigate(pathOf(name.trim()));
    } catch (failure) {
      setError(errorText(failure));
      setSending(false);
    }
  };
  return (
    <Page title="New template" crumbs={CRUMBS}>
      <div className={css["bench"]}>
        <CodeEditor value={text} language="yaml" label="Template" onChange={setText} markers={check.markers} />
        <div className={css["side"]}>
          <Card title="Name">
            <div className={css["side"]}>
              <TextField
                label="Name"
                value={name}
                onChange={(typed) => {
                  setName(typed);
                  setError(null);
                }}
                error={error}
                description="Unique in the cluster. Commands name it: --template NAME."
                isRequired
              />
              <WorkspaceSelect value={workspaceId} onChange={setWorkspace} />
            </div>
          </Card>
          <TemplateCheckCard check={check} />
          <Button
            kind="primary"
            isDisabled={name.trim() === "" || check.config === null}
            isPending={isSending}
            onPress={() => void create()}
          >
            Create
          </Button>
        </div>
      </div>
    </Page>
  );
}
