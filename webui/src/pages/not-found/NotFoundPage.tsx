// An address that leads nowhere: says which, and offers ways on.
import { Empty } from "../../ui/Empty";
import { Page } from "../../ui/Page";
import { Link, useLocation } from "../../url";

export default function NotFoundPage() {
  const [path] = useLocation();
  return (
    <Page title="Not found">
      <Empty title={`There is no page at ${path}`}>
        <p>
          Press <kbd>Ctrl K</kbd> and type an id or a name, or go on from here:
        </p>
        <Link href="/dashboard">Home</Link>
        <Link href="/projects/1/runs">Experiments</Link>
        <Link href="/workspaces">Workspaces</Link>
        <Link href="/clusters">Cluster</Link>
      </Empty>
    </Page>
  );
}
