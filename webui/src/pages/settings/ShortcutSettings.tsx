// The shortcuts that work everywhere.
import { useEffect, useState } from "react";
import { Shortcuts } from "../../shell/ShortcutList";
import { Card } from "../../ui/Card";
import css from "./SettingsPage.module.css";

export function ShortcutSettings() {
  // the shell registers its own in effects, which run after this page's first render
  const [isReady, setReady] = useState(false);
  useEffect(() => setReady(true), []);
  return (
    <Card title="Keyboard shortcuts">
      {isReady && <Shortcuts />}
      <p className={css["muted"]}>
        Pages add their own; press <kbd>?</kbd> on any page to see all that work there.
      </p>
    </Card>
  );
}
