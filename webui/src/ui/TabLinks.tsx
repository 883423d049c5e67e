// Tabs that are links, so that each has an address, opens in a new browser tab and works with Back.
import { useLayoutEffect, useRef } from "react";
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
  const strip = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab is another place in the strip
  useLayoutEffect(() => showCurrent(strip.current), [current]);
  return (
    <nav ref={strip} className={css["tabs"]} aria-label={label}>
      {tabs.map((tab) => (
        <Link key={tab.id} href={tab.href} aria-current={tab.id === current ? "page" : undefined}>
          {tab.label}
          {tab.count !== undefined && <span className={css["count"]}>{tab.count}</span>}
        </Link>
      ))}
    </nav>
  );
}

/** On a narrow screen the strip scrolls: the current tab is in sight. The page itself stays where it is. */
function showCurrent(strip: HTMLElement | null): void {
  const tab = strip?.querySelector<HTMLElement>("[aria-current]");
  if (strip && tab) strip.scrollLeft = tab.offsetLeft - strip.offsetLeft - (strip.clientWidth - tab.offsetWidth) / 2;
}
