// Tabs that are links, so that each has an address, opens in a new browser tab and works with Back.
import { Link } from "../url";
import css from "./TabLinks.module.css";

export interface TabLink {
  id: string;
  label: string;
  href: string;
  count?: number | string | undefined;
}

export function TabLinks({
  tabs,
  current,
  label = "Sections",
}: {
  tabs: readonly TabLink[];
  current: string;
  label?: string;
}) {
  return (
    <nav className={css["tabs"]} aria-label={label}>
      {tabs.map((tab) => (
        <Link key={tab.id} href={tab.href} aria-current={tab.id === current ? "page" : undefined}>
          {tab.label}
          {tab.count !== undefined && <span className={css["count"]}>{tab.count}</span>}
        </Link>
      ))}
    </nav>
  );
}
