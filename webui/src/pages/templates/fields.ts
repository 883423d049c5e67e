// What a template sets, in few words. Pure.
const MOST = 6;

/** `environment, resources`: its sections, not its values. */
export function sectionsOf(config: Record<string, unknown>): string {
  const names = Object.keys(config);
  if (names.length === 0) return "nothing";
  const rest = names.length - MOST;
  return rest > 0 ? `${names.slice(0, MOST).join(", ")} and ${rest} more` : names.join(", ");
}

/** The address of its page. In the query: a path would not keep every character of a name. */
export function pathOf(name: string): string {
  return `/templates/edit?name=${encodeURIComponent(name)}`;
}

/** The commands that use a template. */
export function commandsFor(name: string): string[] {
  const word = /^[\w@%+=:,./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
  return [`det experiment create config.yaml . --template ${word}`, `det notebook start --template ${word}`];
}
