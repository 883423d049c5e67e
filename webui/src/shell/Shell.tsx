// The frame around every signed-in page: rail or phone bar, banners, palette, shortcuts, the main landmark.
import { type ReactNode, useEffect, useState } from "react";
import { call } from "../api/client";
import { useReach } from "../api/connection";
import { useLive } from "../api/live";
import { queryClient } from "../api/useApi";
import { useUserPreferences } from "../api/userPreferences";
import { listen } from "../ui/shortcuts";
import { useShortcut } from "../ui/useShortcut";
import { navigate, useLocation } from "../url";
import { Banners } from "./Banners";
import { Palette } from "./Palette";
import { PhoneBar, PhoneTop } from "./PhoneBar";
import { PLACES } from "./places";
import { Rail } from "./Rail";
import css from "./Shell.module.css";
import { ShortcutList } from "./ShortcutList";

type Open = "palette" | "shortcuts" | null;

export function Shell({ children }: { children: ReactNode }) {
  const [open, setOpen] = useState<Open>(null);
  const openPalette = () => setOpen("palette");
  useEffect(() => listen(window), []);
  // keeps the connection while any page is open, so that the pill tells the truth, and the rail's projects current
  useLive({ projects: "all" });
  const isAway = useReach() !== "ok";
  useUserPreferences();
  useFocusOnPageChange();
  useProjectVisits();
  return (
    <div className={css["shell"]}>
      <a className={css["skip"]} href="#main">
        Skip to the content
      </a>
      <Rail onSearch={openPalette} />
      <PhoneTop onSearch={openPalette} />
      <div className={css["content"]}>
        <Banners />
        <main id="main" tabIndex={-1} className={css["main"]} data-away={isAway || undefined}>
          {children}
        </main>
      </div>
      <PhoneBar />
      <Shortcuts onOpen={setOpen} />
      {open === "palette" && <Palette onClose={() => setOpen(null)} />}
      {open === "shortcuts" && <ShortcutList onClose={() => setOpen(null)} />}
    </div>
  );
}

function Shortcuts({ onOpen }: { onOpen: (what: Open) => void }) {
  useShortcut("mod+k", "Command palette", () => onOpen("palette"));
  useShortcut("mod+space", "Command palette", () => onOpen("palette"));
  useShortcut("?", "This list", () => onOpen("shortcuts"));
  useShortcut("/", "Search on this page", focusQuery);
  useShortcut("j", "To the table", focusTable);
  useShortcut(".", "Actions of this page", openActions);
  return PLACES.flatMap((place) =>
    place.keys ? [<PlaceShortcut key={place.id} keys={place.keys} label={place.label} href={place.href} />] : [],
  );
}

function PlaceShortcut({ keys, label, href }: { keys: string; label: string; href: string }) {
  useShortcut(keys, label, () => navigate(href));
  return null;
}

function focusQuery(): void {
  document.querySelector<HTMLElement>("main [data-query]")?.focus();
}

function focusTable(): void {
  document.querySelector<HTMLElement>("main [role=grid] [tabindex='0']")?.focus();
}

function openActions(): void {
  const opener = document.querySelector<HTMLElement>("main header button[aria-haspopup]");
  opener?.focus();
  // a click would open the menu without giving it the focus
  opener?.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
}

/** A screen reader and the keyboard start at the new page, not at the link that led to it. */
function useFocusOnPageChange(): void {
  const [path] = useLocation();
  const page = path.split("/").slice(0, 3).join("/");
  const [shown, setShown] = useState(page);
  useEffect(() => {
    if (page === shown) return;
    setShown(page);
    window.scrollTo(0, 0);
    document.getElementById("main")?.focus({ preventScroll: true });
  }, [page, shown]);
}

/** The master remembers which projects were looked at; Home and the rail list the last ones. */
function useProjectVisits(): void {
  const [path] = useLocation();
  const visited = /^\/projects\/(\d+)/.exec(path)?.[1];
  useEffect(() => {
    if (visited === undefined) return;
    const body = {
      activityType: "ACTIVITY_TYPE_GET",
      entityType: "ENTITY_TYPE_PROJECT",
      entityId: Number(visited),
    } as const;
    call("recordUserActivity", { body })
      .then(() => queryClient.invalidateQueries({ queryKey: ["listRecentProjects"] }))
      // a project that does not exist says so on its own page
      .catch(() => undefined);
  }, [visited]);
}
