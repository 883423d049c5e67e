// Why an experiment ended in error, where that is more than the failures of its trials: the master's words, to copy.

import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { Button } from "../ui/Button";
import { Card } from "../ui/Card";
import { copyText } from "../ui/clipboard";
import { Lines } from "../ui/Lines";
import { Link } from "../url";
import { experimentError } from "./cause";
import css from "./detail.module.css";
import type { Experiment } from "./types";

export function ExperimentCause({ experiment }: { experiment: Experiment }) {
  const [isCopied, setCopied] = useState(false);
  const error = experimentError(experiment);
  if (error === null) return null;
  return (
    <Card>
      <section className={css["cause"]} aria-label="Why the experiment failed">
        <h2>
          <span aria-hidden="true">✕ </span>
          {experiment.state === "STATE_ERROR" ? "The experiment ended in an error" : "The experiment ends in an error"}
        </h2>
        <p>It could not go on. This is why:</p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long error scrolls, and the keyboard must reach its end */}
        <pre className={css["recorded"]} tabIndex={0}>
          <Lines text={error} />
        </pre>
        <div className={css["row"]}>
          <Button
            icon={isCopied ? <Check size={14} aria-hidden="true" /> : <Copy size={14} aria-hidden="true" />}
            onPress={() => void copyText(error).then(setCopied)}
          >
            {isCopied ? "Copied" : "Copy the error"}
          </Button>
          <span>
            A <Link href={`/experiments/new?from=${experiment.id}&mode=fork`}>fork</Link> starts it again with what you
            change.
          </span>
        </div>
      </section>
    </Card>
  );
}
