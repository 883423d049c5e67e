// How to load a version: with det, from Python, and with nothing but curl; each ready to paste.
import type { ReactNode } from "react";
import { Card } from "../../ui/Card";
import { CopyCommand } from "../../ui/CopyCommand";
import { Link } from "../../url";
import own from "./models.module.css";
import { curlCommand, downloadCommand, pythonSnippet } from "./snippet";

export function LoadSnippet({ name, version }: { name: string; version: number }) {
  const { origin } = window.location;
  return (
    <Card title="Load it">
      <Way label="With det">
        <CopyCommand text={downloadCommand(origin, name, version)} />
      </Way>
      <Way label="In Python">
        <CopyCommand text={pythonSnippet(origin, name, version)} />
      </Way>
      <Way label="Without determined">
        <CopyCommand text={curlCommand(origin, name, version)} />
        <p>
          <code>DET_TOKEN</code> is an <Link href="/settings/tokens">access token</Link> of yours:{" "}
          <code>export DET_TOKEN=…</code> first.
        </p>
      </Way>
    </Card>
  );
}

function Way({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className={own["ways"]}>
      <h3>{label}</h3>
      {children}
    </div>
  );
}
