// Which cluster this is and its version; or that it does not answer, with the seconds until the next try.
import { useEffect, useState } from "react";
import { useApi } from "../../api/useApi";
import css from "./LoginPage.module.css";

const SECONDS = 5;

export function MasterLine() {
  const master = useApi("getMaster", undefined, { refetchInterval: SECONDS * 1000 });
  const info = useApi("getInfo");
  if (master.error) return <Unreachable since={master.errorUpdatedAt} />;
  if (!master.data) return <p className={css["line"]}>&nbsp;</p>;
  const { clusterName, clusterMessage } = master.data;
  // `version` is the API's, for clients of the original system; this one is the master's own
  const version = info.data?.["serverVersion"];
  return (
    <>
      {clusterMessage?.message && <p className={css["message"]}>{clusterMessage.message}</p>}
      <p className={css["line"]}>
        {clusterName ? `${clusterName} · ` : ""}
        {typeof version === "string" && `version ${version}`}
      </p>
    </>
  );
}

function Unreachable({ since }: { since: number }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const left = Math.min(SECONDS, Math.max(0, SECONDS - Math.floor((now - since) / 1000)));
  return (
    <p className={css["unreachable"]} role="alert">
      <span aria-hidden="true">✕ </span>The master does not answer; trying again in {left} s
    </p>
  );
}
