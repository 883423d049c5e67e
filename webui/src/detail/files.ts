// Files of a model definition as they travel: base64 of bytes that are text, or are not.

/** The text of a file, or null when its bytes are not UTF-8. */
export function decodeBase64(encoded: string): string | null {
  try {
    const bytes = Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0));
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\u0000") ? null : text;
  } catch {
    return null;
  }
}
