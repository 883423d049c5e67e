// Settings of the reader: appearance, shortcuts, password, access tokens, and the raw settings kept on the master.
import { Page } from "../../ui/Page";
import { TabLinks } from "../../ui/TabLinks";
import { Account } from "./Account";
import { Appearance } from "./Appearance";
import { RawSettings } from "./RawSettings";
import { ShortcutSettings } from "./ShortcutSettings";
import { Tokens } from "./Tokens";

const TABS = [
  { id: "appearance", label: "Appearance", body: Appearance },
  { id: "account", label: "Account", body: Account },
  { id: "tokens", label: "Access tokens", body: Tokens },
  { id: "shortcuts", label: "Shortcuts", body: ShortcutSettings },
  { id: "raw", label: "Raw settings", body: RawSettings },
] as const;

export default function SettingsPage({ tab }: { tab?: string }) {
  const current = TABS.find((one) => one.id === tab) ?? TABS[0];
  const Body = current.body;
  return (
    <Page title="Settings">
      <TabLinks tabs={TABS.map(({ id, label }) => ({ id, label, href: `/settings/${id}` }))} current={current.id} />
      <Body />
    </Page>
  );
}
