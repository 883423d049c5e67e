// A state as glyph and word; the colour only helps.
import { cx } from "./cx";
import css from "./StatePill.module.css";
import { stateOf } from "./state";

export function StatePill({ state, word }: { state: string | null | undefined; word?: string | undefined }) {
  const shown = stateOf(state);
  return (
    <span className={cx(css["pill"], css[shown.kind])}>
      <span aria-hidden="true" className={css["glyph"]}>
        {shown.glyph}
      </span>
      {word ?? shown.word}
    </span>
  );
}
