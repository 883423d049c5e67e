// Which checkpoints the registry takes. Pure.

/** Why a checkpoint in this state cannot be a version of a model; null when it can. */
export function whyNotRegistered(state: string): string | null {
  if (state === "STATE_COMPLETED") return null;
  const word = state.replace("STATE_", "").replaceAll("_", " ").toLowerCase();
  return `Its files are not all there (${word}); only a complete checkpoint can be registered.`;
}
