// Pure editing of a query string: set one parameter, drop it when it says nothing new, keep commas readable.

/** Returns the search text (`?a=1` or empty) with `name` set, or dropped when `value` is undefined. */
export function withParam(search: string, name: string, value: string | undefined): string {
  const params = new URLSearchParams(search);
  if (value === undefined) params.delete(name);
  else params.set(name, value);
  return printSearch(params);
}

export function printSearch(params: URLSearchParams): string {
  const text = params.toString().replaceAll("%2C", ",").replaceAll("%3A", ":").replaceAll("%2F", "/");
  return text === "" ? "" : `?${text}`;
}

/** A redirect target is only taken when it stays on this origin and below the page's base. */
export function safeRedirect(raw: string | null, base: string): string {
  if (!raw) return "/";
  const inside = raw.startsWith(`${base}/`) ? raw.slice(base.length) : raw;
  return /^\/(?![/\\])/.test(inside) && !inside.startsWith("/login") ? inside : "/";
}
