// One checkpoint: its files, metadata, the versions it is registered as, and registering it.
import { useApi } from "../api/useApi";
import { RegisteredAs } from "../registry/RegisteredAs";
import { whyNotRegistered } from "../registry/registrable";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { ErrorCard } from "../ui/ErrorCard";
import { Skeleton } from "../ui/Skeleton";
import { CheckpointFiles } from "./CheckpointFiles";
import css from "./detail.module.css";

interface CheckpointDialogProps {
  uuid: string;
  onRegister: (uuid: string) => void;
  onClose: () => void;
}

export function CheckpointDialog({ uuid, onRegister, onClose }: CheckpointDialogProps) {
  const found = useApi("getCheckpoint", { path: { checkpoint_uuid: uuid } });
  const checkpoint = found.data?.checkpoint;
  const reason = checkpoint ? whyNotRegistered(checkpoint.state) : null;
  return (
    <Dialog
      title={`Checkpoint ${uuid}`}
      onClose={onClose}
      actions={
        checkpoint && (
          <>
            {reason !== null && <p className={css["muted"]}>{reason}</p>}
            <Button isDisabled={reason !== null} onPress={() => onRegister(uuid)}>
              Register…
            </Button>
          </>
        )
      }
    >
      {found.error && <ErrorCard error={found.error} onRetry={found.refetch} />}
      {found.isPending && <Skeleton rows={6} />}
      {checkpoint && <RegisteredAs uuid={uuid} />}
      {checkpoint && <CheckpointFiles checkpoint={checkpoint} />}
    </Dialog>
  );
}
