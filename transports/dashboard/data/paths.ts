// Where things are on the server. Pure.

/** The path of a block, or of something below it. */
export function blockURL(name: string, below = ''): string {
  return `/api/blocks/${encodeURIComponent(name)}${below}`;
}
