// Programs that download what they start. Pure: no I/O.
//
// whole-download: ending one of them in the middle can leave a package half there, which is then taken for whole and never starts again.
const RUNNERS: ReadonlySet<string> = new Set(['npx', 'npm', 'pnpm', 'pnpx', 'yarn', 'bunx', 'uvx', 'uv', 'pipx', 'docker', 'podman']);

/** How long such a program may take until the server answers (whole-download). */
export const DOWNLOAD_MS = 120_000;

/** True for a command whose first start may have to download the server. */
export function mayDownload(command: string): boolean {
  const [name = ''] = command.toLowerCase().split(/[\\/]/).slice(-1);
  return RUNNERS.has(name.replace(/\.(?:cmd|exe|ps1)$/, ''));
}
