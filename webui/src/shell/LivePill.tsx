// Says whether what is on the page follows the cluster by itself.
import { useConnectionLost } from "../api/connection";
import { useStreamStatus } from "../api/live";
import css from "./Shell.module.css";

const WORDS = { live: "Live", reconnecting: "Reconnecting", polling: "Polling every 10 s" };

export function LivePill() {
  const isLost = useConnectionLost();
  const status = useStreamStatus();
  const shown = isLost ? "reconnecting" : status;
  return (
    <div className={css["pill"]} role="status" data-status={shown}>
      <span aria-hidden="true" />
      <span>{WORDS[shown]}</span>
    </div>
  );
}
