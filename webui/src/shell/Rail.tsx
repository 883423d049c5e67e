// The rail at the left: places, recent projects, pinned workspaces, and who is signed in. Icons only below 1200 px.
import {
  Boxes,
  CircleUser,
  FlaskConical,
  FolderTree,
  House,
  LayoutTemplate,
  type LucideIcon,
  Search,
  Server,
  Settings,
  SquareTerminal,
  Webhook,
} from "lucide-react";
import { useSession } from "../api/session";
import { useApi } from "../api/useApi";
import { Mark } from "../ui/Mark";
import { Menu } from "../ui/Menu";
import { Link, navigate, useLocation } from "../url";
import { LivePill } from "./LivePill";
import {
  CLUSTER,
  EXPERIMENTS,
  HOME,
  isIn,
  MODELS,
  type Place,
  SETTINGS,
  TASKS,
  TEMPLATES,
  WEBHOOKS,
  WORKSPACES,
} from "./places";
import css from "./Rail.module.css";
import { isMac } from "./ShortcutList";

export const ICONS: Record<string, LucideIcon> = {
  home: House,
  experiments: FlaskConical,
  models: Boxes,
  tasks: SquareTerminal,
  templates: LayoutTemplate,
  webhooks: Webhook,
  cluster: Server,
  workspaces: FolderTree,
  settings: Settings,
};

export function Rail({ onSearch }: { onSearch: () => void }) {
  const projects = useApi("listRecentProjects", { query: { limit: 4 } }, { staleTime: 60_000 });
  const pinned = useApi("listWorkspaces", { query: { pinned: true, limit: 6 } }, { staleTime: 60_000 });
  const recent = (projects.data?.projects ?? []).slice(0, 4);
  return (
    <header className={css["rail"]}>
      <Link href="/dashboard" className={css["brand"]}>
        <Mark />
        <span>Determined</span>
      </Link>
      <button type="button" className={css["search"]} onClick={onSearch}>
        <Search size={14} aria-hidden="true" />
        <span>Search</span>
        <kbd>{isMac() ? "⌘ K" : "Ctrl K"}</kbd>
      </button>
      <nav aria-label="Main" className={css["nav"]}>
        <PlaceLink place={HOME} />
        <PlaceLink place={EXPERIMENTS} href={recent[0] && `/projects/${recent[0].id}/runs`} />
        <SubLinks
          links={recent.map(({ id, name }) => ({ href: `/projects/${id}/runs`, root: `/projects/${id}`, name }))}
        />
        <PlaceLink place={MODELS} />
        <PlaceLink place={TASKS} />
        <PlaceLink place={TEMPLATES} />
        <PlaceLink place={WEBHOOKS} />
        <PlaceLink place={CLUSTER} />
        <PlaceLink place={WORKSPACES} />
        <SubLinks
          links={(pinned.data?.workspaces ?? []).map(({ id, name }) => ({
            href: `/workspaces/${id}`,
            root: `/workspaces/${id}`,
            name,
          }))}
        />
      </nav>
      <div className={css["foot"]}>
        <LivePill />
        <PlaceLink place={SETTINGS} />
        <UserMenu />
      </div>
    </header>
  );
}

export function PlaceLink({ place, href }: { place: Place; href?: string | undefined }) {
  const [path] = useLocation();
  const Icon = ICONS[place.id];
  return (
    <Link
      href={href ?? place.href}
      className={css["place"]}
      aria-current={isIn(place, path) ? "page" : undefined}
      title={place.label}
    >
      {Icon && <Icon size={16} aria-hidden="true" />}
      <span>{place.label}</span>
    </Link>
  );
}

function SubLinks({ links }: { links: readonly { href: string; root: string; name: string }[] }) {
  const [path] = useLocation();
  if (links.length === 0) return null;
  return (
    <ul className={css["sub"]}>
      {links.map(({ href, root, name }) => (
        <li key={href}>
          <Link
            href={href}
            title={name}
            aria-current={path === root || path.startsWith(`${root}/`) ? "true" : undefined}
          >
            {name}
          </Link>
        </li>
      ))}
    </ul>
  );
}

function UserMenu() {
  const { user } = useSession();
  const name = user.displayName || user.username;
  return (
    <div className={css["user"]}>
      <span className={css["name"]} title={user.username}>
        {name}
      </span>
      <Menu
        label={`Account of ${name}`}
        icon={<CircleUser size={16} aria-hidden="true" />}
        items={[
          { id: "settings", label: "Settings", onAction: () => navigate("/settings") },
          { id: "guide", label: "Guide", onAction: () => void window.open("/docs/guide", "_blank", "noopener") },
          { id: "api", label: "API reference", onAction: () => void window.open("/docs", "_blank", "noopener") },
          { id: "out", label: "Sign out", onAction: () => navigate("/logout") },
        ]}
      />
    </div>
  );
}
