// Plain data as YAML text, for reading. The master reads YAML; nothing here does.

import { isRecord } from "./plain";

const PLAIN = /^[A-Za-z_./][A-Za-z0-9_./ @-]*$/;
const NUMBER = /^\.(\d|inf$|nan$)/i; // YAML reads these as numbers
const WORDS = new Set(["true", "false", "null", "yes", "no", "on", "off", "y", "n", "~"]);

export function toYaml(value: unknown, indent = 0): string {
  const pad = "  ".repeat(indent);
  if (Array.isArray(value) && value.length > 0) {
    return value.map((item) => `${pad}- ${nested(item, indent + 1).trimStart()}`).join("\n");
  }
  if (isRecord(value) && Object.keys(value).length > 0) {
    return Object.entries(value)
      .map(
        ([key, inner]) =>
          `${pad}${scalar(key)}:${isBranch(inner) ? "\n" : " "}${isBranch(inner) ? nested(inner, indent + 1) : leaf(inner)}`,
      )
      .join("\n");
  }
  return pad + leaf(value);
}

function nested(value: unknown, indent: number): string {
  return isBranch(value) ? toYaml(value, indent) : leaf(value);
}

function leaf(value: unknown): string {
  if (typeof value === "string") return scalar(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return JSON.stringify(value) ?? "null";
}

function scalar(text: string): string {
  const isPlain = PLAIN.test(text) && !NUMBER.test(text) && !WORDS.has(text.toLowerCase()) && text === text.trim();
  return isPlain ? text : JSON.stringify(text);
}

function isBranch(value: unknown): boolean {
  return (Array.isArray(value) && value.length > 0) || (isRecord(value) && Object.keys(value).length > 0);
}
