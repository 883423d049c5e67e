// Theme and density: at once here, and in every browser of the user.
import { DENSITIES, THEMES, useDensity, useTheme } from "../../theme/preferences";
import { Card } from "../../ui/Card";
import css from "./SettingsPage.module.css";

const THEME_WORDS = { system: "As the system", light: "Light", dark: "Dark" };
const DENSITY_WORDS = { compact: "Compact", normal: "Normal", comfortable: "Comfortable" };

export function Appearance() {
  const [theme, setTheme] = useTheme();
  const [density, setDensity] = useDensity();
  return (
    <Card title="Appearance">
      <Choices label="Theme" words={THEME_WORDS} choices={THEMES} value={theme} onChange={setTheme} />
      <Choices label="Density" words={DENSITY_WORDS} choices={DENSITIES} value={density} onChange={setDensity} />
      <p className={css["muted"]}>Yours in every browser you sign in with.</p>
    </Card>
  );
}

interface ChoicesProps<T extends string> {
  label: string;
  choices: readonly T[];
  words: Record<T, string>;
  value: T;
  onChange: (next: T) => void;
}

function Choices<T extends string>({ label, choices, words, value, onChange }: ChoicesProps<T>) {
  return (
    <fieldset className={css["choices"]}>
      <legend>{label}</legend>
      {choices.map((choice) => (
        <label key={choice}>
          <input type="radio" name={label} checked={choice === value} onChange={() => onChange(choice)} />
          {words[choice]}
        </label>
      ))}
    </fieldset>
  );
}
