// On a phone: a slim top with the mark and the search, and a bar of places within reach of the thumb.
import { Ellipsis, Search } from "lucide-react";
import { IconButton } from "../ui/Button";
import { Mark } from "../ui/Mark";
import { Menu } from "../ui/Menu";
import { Link, navigate } from "../url";
import { LivePill } from "./LivePill";
import css from "./PhoneBar.module.css";
import { CLUSTER, EXPERIMENTS, HOME, MODELS, SETTINGS, TASKS, TEMPLATES, WEBHOOKS, WORKSPACES } from "./places";
import { PlaceLink } from "./Rail";

const MORE = [WORKSPACES, MODELS, TEMPLATES, WEBHOOKS, SETTINGS];

export function PhoneTop({ onSearch }: { onSearch: () => void }) {
  return (
    <header className={css["top"]}>
      <Link href="/dashboard" className={css["brand"]} aria-label="Determined, home">
        <Mark size={24} />
      </Link>
      <LivePill />
      <IconButton label="Search and commands" onPress={onSearch}>
        <Search size={18} aria-hidden="true" />
      </IconButton>
    </header>
  );
}

export function PhoneBar() {
  return (
    <nav className={css["bar"]} aria-label="Main">
      {[HOME, EXPERIMENTS, TASKS, CLUSTER].map((place) => (
        <PlaceLink key={place.id} place={place} />
      ))}
      <Menu
        label="More"
        icon={<Ellipsis size={18} aria-hidden="true" />}
        items={[
          ...MORE.map((place) => ({ id: place.id, label: place.label, onAction: () => navigate(place.href) })),
          { id: "out", label: "Sign out", onAction: () => navigate("/logout") },
        ]}
      />
    </nav>
  );
}
