// The shortcuts that work everywhere, and whether single keys are among them.
import { useEffect, useState } from "react";
import { isMac, Shortcuts } from "../../shell/ShortcutList";
import { useSingleKeys } from "../../theme/preferences";
import { Card } from "../../ui/Card";
import { Switch } from "../../ui/Switch";
import css from "./SettingsPage.module.css";

export function ShortcutSettings() {
  // the shell registers its own in effects, which run after this page's first render
  const [isReady, setReady] = useState(false);
  useEffect(() => setReady(true), []);
  const [areOn, setOn] = useSingleKeys();
  return (
    <Card title="Keyboard shortcuts">
      <Switch isSelected={areOn} onChange={setOn}>
        Shortcuts of a single key
      </Switch>
      {isReady && <Shortcuts />}
      <p className={css["muted"]}>
        Pages add their own; press <kbd>?</kbd> on any page to see all that work there. Without those of a single key,
        only those with {isMac() ? "⌘" : "Ctrl"} work outside the table. Kept in this browser.
      </p>
    </Card>
  );
}
