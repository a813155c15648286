// Files that the browser saves as a download.

/** Time in which even a slow browser has begun to save. */
const KEPT_MS = 10_000;

export function saveAs(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
}
