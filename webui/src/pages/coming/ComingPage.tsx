// Pages that are still to come: what each will be, and the command that does it today.
import { CopyCommand } from "../../ui/CopyCommand";
import { Empty } from "../../ui/Empty";
import { Page } from "../../ui/Page";
import { Link } from "../../url";
import { COMING } from "./coming";

export default function ComingPage({ what }: { what: string }) {
  const coming = COMING[what] ?? COMING["policies"];
  if (!coming) return null;
  return (
    <Page title={coming.title}>
      <Empty title="This page is still to come">
        <p>{coming.will}</p>
        <p>{coming.today}</p>
        {coming.commands.map((command) => (
          <CopyCommand key={command} text={command} />
        ))}
        {coming.link && <Link href={coming.link.href}>{coming.link.label}</Link>}
      </Empty>
    </Page>
  );
}
