// The address bar: state, codecs and navigation. wouter is used here and in routes.tsx only; paths are below /det.
import { navigate as navigateAbsolute } from "wouter/use-browser-location";

export { Link, useLocation, useSearch } from "wouter";
export * from "./codecs";
export { safeRedirect, withParam } from "./search";
export { type History, useUrlState } from "./useUrlState";

export const BASE = "/det";

/** Goes to a path below /det: `navigate("/experiments/41")`. */
export function navigate(path: string, options?: { replace?: boolean }): void {
  navigateAbsolute(BASE + path, options);
}

/** The address of a path, for a plain href. */
export function hrefOf(path: string): string {
  return BASE + path;
}
