// The controls above a log: filters, the search with its hits, wrapping, times, full screen, download.

import { useState } from "react";
import { Button } from "../ui/Button";
import { errorText } from "../ui/errorText";
import { Menu } from "../ui/Menu";
import { SearchField } from "../ui/SearchField";
import { Select } from "../ui/Select";
import { Switch } from "../ui/Switch";
import { saveFile } from "../ui/saveFile";
import { TextField } from "../ui/TextField";
import { isFiltered } from "./filters";
import { nextHit } from "./find";
import css from "./LogView.module.css";
import { LEVELS, levelOf } from "./line";
import { download, fileName, type LogFields, type LogSource } from "./source";
import { type Hits, useFields } from "./useLog";
import type { LogSettings } from "./useLogState";

interface LogToolbarProps {
  source: LogSource;
  settings: LogSettings;
  hits: Hits;
  current: number | null;
  onShow: (id: number) => void;
  fullscreenOf: React.RefObject<HTMLElement | null>;
}

export function LogToolbar({ source, settings, hits, current, onShow, fullscreenOf }: LogToolbarProps) {
  const fields = useFields(source);
  const [isOpen, setOpen] = useState(false);
  const step = (by: 1 | -1): void => {
    const next = nextHit(hits.ids, current, by);
    if (next !== null) onShow(next);
  };
  return (
    <>
      <div className={css["bar"]}>
        <div className={css["grow"]}>
          <SearchField
            label="Find in the log"
            value={settings.find}
            onChange={settings.setFind}
            onSubmit={() => step(1)}
          />
        </div>
        <Button kind="plain" isDisabled={hits.ids.length === 0} onPress={() => step(-1)}>
          Previous
        </Button>
        <Button kind="plain" isDisabled={hits.ids.length === 0} onPress={() => step(1)}>
          Next
        </Button>
        <Switch isSelected={settings.isRegex} onChange={settings.setRegex}>
          Regex
        </Switch>
        <Switch isSelected={settings.mode === "only"} onChange={(on) => settings.setMode(on ? "only" : "mark")}>
          Only matches
        </Switch>
        <LevelSelect settings={settings} />
        <Button kind="plain" onPress={() => setOpen(!isOpen)}>
          {isOpen ? "Fewer filters" : "More filters"}
        </Button>
        <Switch isSelected={settings.isWrapped} onChange={settings.setWrapped}>
          Wrap
        </Switch>
        <Switch isSelected={settings.hasTimes} onChange={settings.setTimes}>
          Times
        </Switch>
        <More source={source} settings={settings} fullscreenOf={fullscreenOf} />
      </div>
      {(isOpen || hasMore(settings)) && source.kind !== "master" && <MoreFilters settings={settings} fields={fields} />}
    </>
  );
}

function LevelSelect({ settings }: { settings: LogSettings }) {
  const options = [
    { id: "all", label: "All levels" },
    ...LEVELS.map((level) => ({ id: level, label: `${level} and above` })),
  ];
  return (
    <Select
      label="Level"
      value={settings.filters.level ?? "all"}
      options={options}
      onChange={(id) => settings.setLevel(levelOf(id))}
    />
  );
}

function hasMore({ filters }: LogSettings): boolean {
  const { ranks, agents, containers, streams, sources, from, to } = filters;
  return [ranks, agents, containers, streams, sources].some((list) => list.length > 0) || from !== "" || to !== "";
}

function MoreFilters({ settings, fields }: { settings: LogSettings; fields: LogFields }) {
  const { filters } = settings;
  const ranks = (fields.rankIds ?? []).map(String);
  return (
    <div className={css["bar"]}>
      <Choice
        label="Rank"
        all="All ranks"
        values={ranks}
        chosen={filters.ranks.map(String)}
        onChange={settings.setRanks}
      />
      <Choice
        label="Agent"
        all="All agents"
        values={fields.agentIds}
        chosen={filters.agents}
        onChange={settings.setAgents}
      />
      <Choice
        label="Container"
        all="All containers"
        values={fields.containerIds}
        chosen={filters.containers}
        onChange={settings.setContainers}
      />
      <Choice
        label="Stream"
        all="Both streams"
        values={fields.stdtypes}
        chosen={filters.streams}
        onChange={settings.setStreams}
      />
      <Choice
        label="Written by"
        all="Everybody"
        values={fields.sources}
        chosen={filters.sources}
        onChange={settings.setSources}
      />
      <TextField label="After" type="datetime-local" value={localTime(filters.from)} onChange={settings.setFrom} />
      <TextField label="Before" type="datetime-local" value={localTime(filters.to)} onChange={settings.setTo} />
      <Button kind="plain" onPress={settings.clear}>
        Clear
      </Button>
    </div>
  );
}

interface ChoiceProps {
  label: string;
  all: string;
  values: readonly string[] | null | undefined;
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
}

/** One value or all; several, as an address may name them, are shown as one choice. */
function Choice({ label, all, values, chosen, onChange }: ChoiceProps) {
  const several = chosen.join(",");
  const known = [...new Set([...(values ?? []), ...(chosen.length > 0 ? [several] : [])])];
  const options = [{ id: "", label: all }, ...known.map((value) => ({ id: value, label: value }))];
  return (
    <Select
      label={label}
      value={several}
      options={options}
      onChange={(id) => onChange(id === "" ? [] : id.split(","))}
    />
  );
}

function More({ source, settings, fullscreenOf }: Pick<LogToolbarProps, "source" | "settings" | "fullscreenOf">) {
  const [count, setCount] = useState<number | null>(null);
  const [error, setError] = useState<string | null>(null);
  const start = async (): Promise<void> => {
    setCount(0);
    setError(null);
    try {
      const blob = await download(source, settings.filters, setCount, new AbortController().signal);
      saveFile(blob, fileName(source));
    } catch (problem) {
      setError(errorText(problem));
    } finally {
      setCount(null);
    }
  };
  const words = isFiltered(settings.filters) ? "Download what passes the filters" : "Download";
  const items = [
    { id: "download", label: words, onAction: () => void start(), isDisabled: count !== null },
    { id: "screen", label: "Full screen", onAction: () => void fullscreenOf.current?.requestFullscreen() },
  ];
  return (
    <>
      <Menu label="More" items={items} />
      {count !== null && <span role="status">Downloading, {count.toLocaleString("en")} lines so far</span>}
      {error !== null && <span role="alert">{error}</span>}
    </>
  );
}

/** An instant as the control for times wants it: local, without a zone. */
function localTime(time: string): string {
  if (time === "") return "";
  const date = new Date(time);
  const two = (n: number): string => String(n).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}T${two(date.getHours())}:${two(date.getMinutes())}`;
}
