// Text of several lines, each in a box of its own: characters that turn the direction of writing end with their line.

export function Lines({ text }: { text: string }) {
  const lines = text.split("\n");
  return lines.map((line, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity, and are never moved
    <span key={index} style={{ display: "block" }}>
      {line === "" ? "\u200b" : line}
    </span>
  ));
}
