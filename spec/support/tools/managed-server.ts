// A whole server whose servers of tools are managed, and start nothing but lists that a test writes.
import type { Test } from 'tap';
import type { ToolHost } from '../../../core/index.ts';
import { startServer, type TestServer, type TestServerOptions } from '../server.ts';
import { type ServerRig, serverRig } from './server-rig.ts';

export async function startManagedServer(t: Test, options: TestServerOptions = {}): Promise<TestServer & { readonly rig: ServerRig }> {
  let rig: ServerRig | undefined;
  const host: ToolHost = {
    get servers() {
      return rig?.servers;
    },
    get skills() {
      return rig?.skills;
    },
    catalogue: async (servers) => rig?.book.catalogue(servers) ?? { tools: [], settings: {}, problems: [] },
    call: async () => {
      throw new Error('nothing is called here');
    },
    halt: async () => undefined,
    close: async () => undefined,
  };
  const server = await startServer(t, { ...options, tools: host });
  rig = serverRig(t, { workspace: server.workspace, isOwn: ({ origin }) => origin === server.url });
  return Object.assign(server, { rig });
}
