// What the master keeps about the reader's views, as it keeps it, and a way to forget it.
import { call } from "../../api/client";
import { useAct, useApi } from "../../api/useApi";
import { Button } from "../../ui/Button";
import { Card } from "../../ui/Card";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { jsonText } from "../../ui/format";
import { Skeleton } from "../../ui/Skeleton";
import { useConfirm } from "../../ui/useConfirm";
import css from "./SettingsPage.module.css";

export function RawSettings() {
  const settings = useApi("getUserSettings");
  const act = useAct();
  const { confirm } = useConfirm();
  const reset = async () => {
    const text = "Every setting that the master keeps for you goes back to its default.";
    if (!(await confirm({ title: "Forget your settings?", text, verb: "Forget", isDanger: true }))) return;
    await act({
      label: "Forgot the settings",
      run: () => call("resetUserSettings"),
      invalidate: ["getUserSettings"],
    });
  };
  const kept = settings.data?.settings ?? [];
  return (
    <Card
      title="Settings kept on the master"
      actions={
        <Button kind="danger" isDisabled={kept.length === 0} onPress={() => void reset()}>
          Forget all
        </Button>
      }
    >
      {settings.error && <ErrorCard error={settings.error} onRetry={settings.refetch} />}
      {settings.isPending && <Skeleton rows={4} />}
      {settings.data && kept.length === 0 && <Empty title="None are kept">Views live in their addresses.</Empty>}
      {kept.length > 0 && <pre className={css["raw"]}>{jsonText(kept)}</pre>}
    </Card>
  );
}
