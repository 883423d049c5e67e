// Long names: the middle goes, because both the family in front and the number at the end tell series apart.

export function middleEllipsis(text: string, most: number): string {
  const letters = Array.from(text);
  if (letters.length <= most) return text;
  const kept = Math.max(2, most - 1);
  const head = Math.ceil(kept / 2);
  return `${letters.slice(0, head).join("")}…${letters.slice(letters.length - (kept - head)).join("")}`;
}
