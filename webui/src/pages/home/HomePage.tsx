// Home: what runs, what needs attention, what is free, and where to go on. A new user gets three commands instead.
import { useLive } from "../../api/live";
import { useSession } from "../../api/session";
import { useApi } from "../../api/useApi";
import { Button } from "../../ui/Button";
import { ErrorCard } from "../../ui/ErrorCard";
import { Page } from "../../ui/Page";
import { Skeleton } from "../../ui/Skeleton";
import { navigate } from "../../url";
import { FirstRun } from "./FirstRun";
import css from "./HomePage.module.css";
import { NeedsAttention } from "./NeedsAttention";
import { Pools } from "./Pools";
import { RecentProjects } from "./RecentProjects";
import { RunningNow } from "./RunningNow";

export default function HomePage() {
  const { user } = useSession();
  useLive({ experiments: "all", jobs: true, agents: true });
  const mine = useApi("listExperiments", { query: { userIds: user.id ? [user.id] : [], limit: 1 } });
  return (
    <Page
      title="Home"
      actions={
        <Button kind="primary" onPress={() => navigate("/experiments/new")}>
          New experiment
        </Button>
      }
    >
      {mine.error && <ErrorCard error={mine.error} onRetry={mine.refetch} />}
      {!mine.data && !mine.error && <Skeleton rows={8} />}
      {mine.data && (
        <div className={css["home"]}>
          <div className={css["wide"]}>
            {mine.data.experiments.length === 0 ? <FirstRun /> : <RunningNow userId={user.id} />}
            {mine.data.experiments.length > 0 && <NeedsAttention userId={user.id} />}
          </div>
          <div className={css["side"]}>
            <Pools />
            <RecentProjects />
          </div>
        </div>
      )}
    </Page>
  );
}
