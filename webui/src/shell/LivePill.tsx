// Says whether what is on the page follows the cluster by itself.
import { useReach } from "../api/connection";
import { useStreamStatus } from "../api/live";
import css from "./Shell.module.css";

const WORDS = { offline: "Offline", live: "Live", reconnecting: "Reconnecting", polling: "Polling every 10 s" };

export function LivePill() {
  const reach = useReach();
  const status = useStreamStatus();
  const shown = reach === "ok" ? status : reach === "lost" ? "reconnecting" : "offline";
  return (
    <div className={css["pill"]} role="status" data-status={shown}>
      <span aria-hidden="true" />
      <span>{WORDS[shown]}</span>
    </div>
  );
}
