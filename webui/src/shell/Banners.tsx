// Lines above the page: the connection is lost, the administrator's message, a newer version to load.
import { useEffect, useState } from "react";
import { type Reach, useReach } from "../api/connection";
import { queryClient, useApi } from "../api/useApi";
import { Button } from "../ui/Button";
import { cx } from "../ui/cx";
import css from "./Shell.module.css";

const RETRY_MS = 1_000;

export function Banners() {
  const reach = useReach();
  const master = useApi("getMaster", undefined, { refetchInterval: reach === "ok" ? 60_000 : RETRY_MS });
  const info = useApi("getInfo", undefined, { refetchInterval: 60_000 });
  const version = info.data?.["serverVersion"];
  const message = master.data?.clusterMessage?.message;
  return (
    <>
      {reach !== "ok" && <Away reach={reach} />}
      {message && (
        <section className={css["banner"]} aria-label="Message from the administrator">
          {message}
        </section>
      )}
      <NewVersion version={typeof version === "string" ? version : undefined} />
    </>
  );
}

function Away({ reach }: { reach: Exclude<Reach, "ok"> }) {
  const words =
    reach === "offline"
      ? "This browser is offline. What you see may be old; the page goes on by itself when the network is back."
      : "The master does not answer. What you see may be old; the page tries again every second.";
  return (
    <div className={cx(css["banner"], css["lost"])} role="alert">
      <span>
        <span aria-hidden="true">✕ </span>
        {words}
      </span>
      <Button onPress={() => void queryClient.invalidateQueries()}>Try now</Button>
    </div>
  );
}

function NewVersion({ version }: { version: string | undefined }) {
  const [first, setFirst] = useState<string | null>(null);
  useEffect(() => {
    if (version !== undefined) setFirst((known) => known ?? version);
  }, [version]);
  if (version === undefined || first === null || version === first) return null;
  return (
    <div className={css["banner"]} role="status">
      <span>
        The master now runs version {version}; this page is of {first}.
      </span>
      <Button onPress={() => window.location.reload()}>Reload</Button>
    </div>
  );
}
