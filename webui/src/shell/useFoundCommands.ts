// What the palette offers for the typed words: jumps, the page's commands, places, and what the master finds.
import { useDeferredValue, useMemo } from "react";
import type { Schemas } from "../api/schema";
import { useApi } from "../api/useApi";
import { setTheme, THEMES } from "../theme/preferences";
import { BASE, navigate } from "../url";
import { jumpsOf, rank } from "./match";
import { type Command, useRegisteredCommands } from "./palette";
import { PLACES } from "./places";

const MOST = 50;

export function useFoundCommands(typed: string): { commands: Command[]; isSearching: boolean } {
  const query = useDeferredValue(typed.trim());
  const registered = useRegisteredCommands();
  const search = useApi(
    "lookUp",
    { query: { q: query, limit: 12 } },
    { enabled: query.length >= 2, keepPrevious: true, staleTime: 30_000 },
  );
  const hits = query.length >= 2 && !search.isPlaceholderData ? search.data?.hits : undefined;
  const commands = useMemo(() => {
    const jumps = jumpsOf(query).map((jump) => goTo(jump.path, jump.label, "by id"));
    const known = rank([...registered.flat(), ...places, ...themes], query);
    const found = (hits ?? []).map(toCommand);
    // an id is gone to blindly only until the master has said what has it
    const byId = found.length > 0 && jumps.length > 0 ? [...found, ...known] : [...jumps, ...known, ...found];
    return distinct(byId).slice(0, MOST);
  }, [query, registered, hits]);
  return { commands, isSearching: search.isFetching };
}

const places: Command[] = PLACES.map((place) => goTo(place.href, place.label, place.keys, place.keywords));

const themes: Command[] = THEMES.map((theme) => ({
  id: `theme-${theme}`,
  label: `Theme: ${theme}`,
  keywords: "colour dark light appearance",
  run: () => setTheme(theme),
}));

function toCommand(hit: Schemas["Hit"]): Command {
  const path = hit.path.startsWith(`${BASE}/`) ? hit.path.slice(BASE.length) : hit.path;
  return goTo(path, hit.name, [hit.kind, hit.detail].filter(Boolean).join(" · "));
}

function goTo(path: string, label: string, detail?: string, keywords?: string): Command {
  return { id: `go${path.replace(/\W+/g, "-")}`, label, detail, keywords, run: () => navigate(path) };
}

/** One entry per id, at its first place. */
function distinct(commands: readonly Command[]): Command[] {
  return [...new Map(commands.map((command) => [command.id, command])).values()];
}
