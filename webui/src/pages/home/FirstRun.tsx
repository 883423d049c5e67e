// What a new user sees instead of an empty list: three commands from nothing to a running experiment.
import { Card } from "../../ui/Card";
import { CopyCommand } from "../../ui/CopyCommand";
import { Link } from "../../url";
import css from "./HomePage.module.css";

export function FirstRun() {
  const { origin } = window.location;
  return (
    <Card title="Run your first experiment">
      <p>You have submitted nothing yet. In a terminal on your machine:</p>
      <ol className={css["steps"]}>
        <li>
          <p>Point the command line to this cluster:</p>
          <CopyCommand text={`export DET_MASTER=${origin}`} />
        </li>
        <li>
          <p>Sign in:</p>
          <CopyCommand text="det user login" />
        </li>
        <li>
          <p>Submit a directory with a training script and its configuration, and follow its log:</p>
          <CopyCommand text="det experiment create config.yaml . -f" />
        </li>
      </ol>
      <p>
        Or <Link href="/experiments/new">write one in the browser</Link>.
      </p>
    </Card>
  );
}
