// What went wrong, in the words of whoever said so.

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
