// Walking over the marks of a picture by keyboard: a slider over the marks, told in words; Enter picks. Pure part.

/** The next index, null to let go, undefined when the key means something else. */
export function walked(key: string, index: number | null, count: number): number | null | undefined {
  if (count === 0) return undefined;
  switch (key) {
    case "ArrowRight":
    case "ArrowDown":
      return index === null ? 0 : Math.min(count - 1, index + 1);
    case "ArrowLeft":
    case "ArrowUp":
      return index === null ? count - 1 : Math.max(0, index - 1);
    case "PageDown":
      return Math.min(count - 1, (index ?? 0) + 10);
    case "PageUp":
      return Math.max(0, (index ?? count - 1) - 10);
    case "Home":
      return 0;
    case "End":
      return count - 1;
    case "Escape":
      return null;
    default:
      return undefined;
  }
}
