// The projects I used last.
import { useApi } from "../../api/useApi";
import { Card } from "../../ui/Card";
import { ErrorCard } from "../../ui/ErrorCard";
import { plural } from "../../ui/format";
import { Skeleton } from "../../ui/Skeleton";
import { Link } from "../../url";
import css from "./HomePage.module.css";

export function RecentProjects() {
  const recent = useApi("listRecentProjects", { query: { limit: 5 } });
  const projects = recent.data?.projects ?? [];
  return (
    <Card title="Recent projects" actions={<Link href="/workspaces">Workspaces</Link>}>
      {recent.error && <ErrorCard error={recent.error} onRetry={recent.refetch} />}
      {recent.isPending && <Skeleton rows={3} />}
      {recent.data && projects.length === 0 && (
        <p>
          None yet. <Link href="/projects/1/runs">Uncategorized</Link> holds what has no project.
        </p>
      )}
      <ul className={css["list"]}>
        {projects.map((project) => (
          <li key={project.id}>
            <div className={css["row"]}>
              <Link href={`/projects/${project.id}/runs`}>{project.name}</Link>
            </div>
            <div className={css["facts"]}>
              <span>{project.workspaceName}</span>
              <span>{plural(project.numExperiments, "experiment")}</span>
              {project.numActiveExperiments > 0 && <span>{project.numActiveExperiments} active</span>}
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}
