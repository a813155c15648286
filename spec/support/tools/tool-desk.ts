// Commands on a server whose servers of tools are lists that a test writes.
import type { Test } from 'tap';
import { type Outcome, runHere } from '../../cli/run.ts';
import { startManagedServer } from './managed-server.ts';

export async function toolDesk(t: Test) {
  const { core, url, rig, workspace } = await startManagedServer(t);
  await core.announce(url);
  const on = (args: readonly string[], input = ''): Promise<Outcome> => {
    const at = args.indexOf('--');
    const place = at < 0 ? args.length : at;
    return runHere(t, [...args.slice(0, place), '--workspace', workspace, ...args.slice(place)], { input });
  };
  return { on, rig, workspace };
}
