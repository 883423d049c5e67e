// Hands data to the reader as a file.

export function saveFile(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // the browser has taken the data over by the time the task ends; holding it would leak all of it
  setTimeout(() => URL.revokeObjectURL(address), 0);
}
