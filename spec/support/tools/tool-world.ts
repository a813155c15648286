// A real server with tools before a real browser: the core and its doors of this source, the built page, a model that a test writes, and the tools of a bank.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Test } from 'tap';
import { createOllama } from '../../../adapters/ollama/index.ts';
import { type Core, type CoreOptions, createCore } from '../../../core/index.ts';
import type { ToolHost } from '../../../core/tools/port.ts';
import { createHttpTransport } from '../../../transports/http/index.ts';
import { createWsTransport } from '../../../transports/ws/index.ts';
import { openWorld, type World } from '../browser.ts';
import { testFolder } from '../test-folder.ts';
import { startUpstream } from '../upstream.ts';
import { PaymentHost, type PaymentHostOptions } from './payment-host.ts';
import { type Said, type Seen, toolModel } from './tool-model.ts';

export interface ToolWorldOptions extends Partial<Omit<CoreOptions, 'workspace' | 'tools'>> {
  /** What the model says. */
  readonly say: (seen: Seen, index: number) => Said | Promise<Said>;
  readonly bank?: Omit<PaymentHostOptions, 'book'>;
  /** Manages the servers of the workspace and reads its skills, where a test needs that. */
  servers?(workspace: string): Pick<ToolHost, 'servers' | 'skills' | 'onServer'>;
}

export interface ToolWorld {
  readonly world: World;
  readonly core: Core;
  readonly host: PaymentHost;
  /** A block that may call the tools of the bank; each call waits for a person unless `tools` says other. Started. */
  add(name: string, tools?: object): Promise<void>;
  /** Posts a message. */
  post(name: string, message: string): Promise<string>;
}

const PAGE = pathToFileURL(`${join(import.meta.dirname, '../../../dist/dashboard')}/`);

/** Undefined where there is no browser. */
export async function toolWorld(t: Test, { say, bank = {}, servers, ...options }: ToolWorldOptions): Promise<ToolWorld | undefined> {
  const host = new PaymentHost({ ...bank, book: `${testFolder(t, { book: '' })}/book` });
  const upstream = await startUpstream(t, toolModel(say));
  let started: Core | undefined;
  const world = await openWorld(t, {
    isAlone: true,
    async serve(workspace) {
      const tools = servers === undefined ? host : Object.assign(host, servers(workspace));
      const core = createCore({ workspace, adapters: [createOllama()], env: { OLLAMA_BASE_URL: upstream.url }, ...options, tools });
      started = core;
      await core.start();
      await core.token?.ensure();
      const transport = createHttpTransport(core, { dashboard: PAGE });
      const sockets = createWsTransport(core, transport.server, {});
      const url = await transport.listen(0, '127.0.0.1');
      return {
        url,
        async stop() {
          transport.server.closeAllConnections();
          await Promise.all([transport.close(), sockets.close()]);
          await core.close();
        },
      };
    },
  });
  if (world === undefined || started === undefined) return undefined;
  const core = started;
  return {
    world,
    core,
    host,
    async add(name, tools = { servers: ['bank'], ask: ['*'] }) {
      await world.block(name, { tools });
    },
    post: async (name, message) => (await core.blocks.post(name, { message }, 'web')).id,
  };
}
