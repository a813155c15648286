// A whole server whose block "ada" may call the tools of a bank, before a model that a test writes.
import type { Test } from 'tap';
import type { ShownApproval } from '../../../core/types.ts';
import { RUNNABLE } from '../blocks.ts';
import { startServer, type TestServer, type TestServerOptions } from '../server.ts';
import { testFolder } from '../test-folder.ts';
import { PaymentHost, type PaymentHostOptions } from './payment-host.ts';
import { areLeft } from './tool-core.ts';
import { sought } from '../until.ts';
import { type Said, type Seen, toolModel } from './tool-model.ts';

export interface ToolServerOptions extends Omit<TestServerOptions, 'tools' | 'answer'> {
  readonly say: (seen: Seen, index: number) => Said | Promise<Said>;
  readonly rules?: object;
  readonly bank?: Omit<PaymentHostOptions, 'book'>;
}

export interface ToolServer extends TestServer {
  readonly host: PaymentHost;
  /** Posts a message to ada and starts it. */
  post(message: string): Promise<string>;
  /** As `pendingIn` (tool-core.ts). */
  pending(count?: number): Promise<readonly ShownApproval[]>;
  /** Waits for the outcome of a message. */
  outcome(id: string): Promise<string>;
}

/** Asks `look` until it is content. */
const until = <T>(what: string, look: () => Promise<T | undefined>): Promise<T> => sought(look, () => `${what} has not come`, 30_000);

export async function toolServer(t: Test, { say, rules = { servers: ['bank'], ask: ['*'] }, bank = {}, ...options }: ToolServerOptions): Promise<ToolServer> {
  const book = `${testFolder(t, { book: '' })}/book`;
  const host = new PaymentHost({ ...bank, book });
  const server = await startServer(t, { ...options, tools: host, answer: toolModel(say) });
  const { blocks } = server.core;
  await blocks.create({ name: 'ada', config: { ...RUNNABLE, tools: rules } as never });
  return Object.assign(server, {
    host,
    post: async (message: string) => {
      const { id } = await blocks.post('ada', { message }, 'api');
      await blocks.start('ada');
      return id;
    },
    pending: (count = 1) =>
      until(`${count} calls that wait`, async () => {
        const { approvals } = await blocks.approvals();
        return approvals.length >= count && (await areLeft(blocks, approvals)) ? approvals : undefined;
      }),
    outcome: (id: string) =>
      until('the outcome', async () => {
        const { status } = (await blocks.message('ada', id)).entry;
        return ['done', 'failed', 'cancelled'].includes(status) ? status : undefined;
      }),
  });
}
