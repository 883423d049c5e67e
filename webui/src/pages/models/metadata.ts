// Metadata as text to edit: a JSON object, and what is wrong with a text that is none. Pure.
import { isRecord } from "../../detail/plain";
import { jsonText } from "../../ui/format";

export type Metadata = Record<string, unknown>;

export function metadataText(metadata: Metadata): string {
  return Object.keys(metadata).length === 0 ? "{\n}" : jsonText(metadata);
}

/** What the text says, or a sentence about what is wrong with it. */
export function readMetadata(text: string): { metadata: Metadata } | { problem: string } {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch (error) {
    return { problem: `This is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  if (!isRecord(read)) return { problem: 'Metadata are names with values: {"dataset": "v3"}' };
  return { metadata: read };
}

/** Some integer is too long for a browser, which would save another one. */
export function holdsLongInteger(value: unknown): boolean {
  if (typeof value === "number")
    return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21;
  if (Array.isArray(value)) return value.some(holdsLongInteger);
  return isRecord(value) && Object.values(value).some(holdsLongInteger);
}
