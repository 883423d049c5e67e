import { describe, expect, it } from "vitest";
import { isFiltered, levelsFrom, NO_FILTERS, passes, toQuery } from "./filters";
import { fromWire, lineInHash, shownNumber } from "./line";

const line = fromWire({
  id: "12",
  level: "LOG_LEVEL_WARNING",
  log: "slow step",
  message: "[t] WARNING: slow step\n",
  timestamp: "2026-11-15T10:00:00Z",
});

describe("log filters", () => {
  it("asks the master for nothing when nothing is filtered", () => {
    expect(toQuery(NO_FILTERS)).toEqual({});
    expect(isFiltered(NO_FILTERS)).toBe(false);
    expect(isFiltered({ ...NO_FILTERS, isRegex: true })).toBe(false);
  });

  it("turns the least level into the levels from there on", () => {
    expect(levelsFrom("ERROR")).toEqual(["LOG_LEVEL_ERROR", "LOG_LEVEL_CRITICAL"]);
    expect(levelsFrom("INFO")).toContain("LOG_LEVEL_UNSPECIFIED");
  });

  it("names every parameter as the master does", () => {
    const query = toQuery({ ...NO_FILTERS, ranks: [1], only: "a+", isRegex: true, streams: ["stderr"] });
    expect(query).toEqual({ rankIds: [1], stdtypes: ["stderr"], searchText: "a+", enableRegex: true });
  });

  it("filters the master's own log here", () => {
    expect(passes(line, { ...NO_FILTERS, level: "WARNING" })).toBe(true);
    expect(passes(line, { ...NO_FILTERS, level: "ERROR" })).toBe(false);
    expect(passes(line, { ...NO_FILTERS, only: "SLOW" })).toBe(true);
    expect(passes(line, { ...NO_FILTERS, only: "^step", isRegex: true })).toBe(false);
    expect(passes(line, { ...NO_FILTERS, from: "2026-11-15T10:00:01Z" })).toBe(false);
  });

  it("reads lines and the addresses of lines", () => {
    expect(line).toMatchObject({ id: 12, level: "WARNING", text: "slow step", rank: null });
    expect(lineInHash("#L120")).toBe(120);
    expect(lineInHash("#x")).toBeNull();
    expect(shownNumber(2 ** 40 + 7)).toBe(7);
  });
});
