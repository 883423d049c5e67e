// Labels as a line of text: "vision, demo". Pure.

export function labelsOf(line: string): string[] {
  const labels = line.split(",").map((one) => one.trim());
  return [...new Set(labels.filter((one) => one !== ""))];
}
