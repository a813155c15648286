// A core whose block "ada" may call the tools of a bank, before a model that a test writes.
import { existsSync, readFileSync } from 'node:fs';
import type { Test } from 'tap';
import type { ChatEntry, RunRecord, ShownApproval } from '../../../core/types.ts';
import { RUNNABLE, type StartedCore, type StartOptions, startCore } from '../blocks.ts';
import { testFolder } from '../test-folder.ts';
import { AT } from './records.ts';
import { PaymentHost, type PaymentHostOptions } from './payment-host.ts';
import { sought } from '../until.ts';
import { type Said, type Seen, toolModel } from './tool-model.ts';

export interface ToolCoreOptions extends Omit<StartOptions, 'workspace' | 'tools' | 'answer'> {
  /** What the model says. */
  readonly say: (seen: Seen, index: number) => Said | Promise<Said>;
  /** In the configuration of the block; by default all tools of the bank are allowed. */
  readonly rules?: object;
  readonly config?: object;
  readonly bank?: Omit<PaymentHostOptions, 'book'>;
}

export interface ToolCore extends StartedCore {
  readonly host: PaymentHost;
  /** What the bank has done, one line for each effect. */
  effects(): { readonly pay?: string; readonly limit?: number; readonly amount?: number; readonly callId: string; readonly key?: string }[];
  /** Posts a message and starts the block. */
  post(message: string): Promise<string>;
  records(id: string): Promise<readonly RunRecord[]>;
  entry(id: string): Promise<ChatEntry>;
  answerTo(id: string): Promise<ChatEntry | undefined>;
  /** Waits for the outcome of a message. */
  outcome(id: string): Promise<ChatEntry>;
  /** The bodies of the chats with the model. */
  prompts(): { readonly messages: readonly { readonly role: string; readonly content: string }[]; readonly tools?: readonly object[] }[];
}

export const RULES = { servers: ['bank'], allow: ['bank/*'] };

export async function toolCore(t: Test, { say, rules = RULES, config = {}, bank = {}, files = {}, ...options }: ToolCoreOptions): Promise<ToolCore> {
  const folder = testFolder(t, { workspace: files });
  const book = `${folder}/book`;
  const host = new PaymentHost({ ...bank, book });
  const one = await startCore(t, { ...options, workspace: `${folder}/workspace`, tools: host, answer: toolModel(say) });
  if (options.start !== false && !(await one.blocks.list()).some(({ name }) => name === 'ada'))
    await one.create('ada', { ...RUNNABLE, ...config, tools: rules });
  const history = (): Promise<readonly ChatEntry[]> => one.blocks.history('ada');
  const entry = async (id: string): Promise<ChatEntry> => (await history()).find((found) => found.id === id) as ChatEntry;
  return Object.assign(one, {
    host,
    effects: () => {
      const lines = existsSync(book) ? readFileSync(book, 'utf8').split('\n') : [];
      return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
    },
    post: async (message: string) => {
      const { id } = await one.blocks.post('ada', { message }, 'api');
      await one.blocks.start('ada');
      return id;
    },
    records: async (id: string) => (await one.blocks.run('ada', id)).records,
    entry,
    answerTo: async (id: string) => (await history()).find(({ replyTo }) => replyTo === id),
    outcome: (id: string) => outcomeOf(() => entry(id)),
    prompts: () => one.upstream.requests.map(({ body }) => JSON.parse(body)),
  });
}

/** Waits until a message has its outcome. `read` reads its entry. */
export function outcomeOf(read: () => Promise<ChatEntry>): Promise<ChatEntry> {
  let entry: ChatEntry | undefined;
  const look = async (): Promise<ChatEntry | undefined> => {
    entry = await read();
    return ['done', 'failed', 'cancelled'].includes(entry.status) ? entry : undefined;
  };
  return sought(look, () => `the message is still ${entry?.status}`, 30_000);
}

/** Waits until so many calls wait for people, and their messages with them. */
export function pendingIn({ blocks }: Pick<ToolCore, 'blocks'>, count = 1): Promise<readonly ShownApproval[]> {
  let waiting = 0;
  const look = async (): Promise<readonly ShownApproval[] | undefined> => {
    const { approvals } = await blocks.approvals();
    waiting = approvals.length;
    return waiting === count && (await areLeft(blocks, approvals)) ? approvals : undefined;
  };
  return sought(look, () => `${waiting} calls wait`, 30_000);
}

/** True once the messages of these calls are left waiting. A call is listed a moment before that. */
export async function areLeft(blocks: ToolCore['blocks'], approvals: readonly ShownApproval[]): Promise<boolean> {
  const messages = await Promise.all(approvals.map(({ block, messageId }) => blocks.message(block, messageId)));
  return messages.every(({ entry }) => entry.status === 'waiting-approval');
}

/** The folder of a block whose server ended in a run: its message is in process, and its journal has these records. */
export function crashedIn(records: readonly RunRecord[], rules: object = RULES, message: object = {}) {
  const entry = { id: 'm1', role: 'user', content: 'Pay bob.', timestamp: AT, processed: false, status: 'processing', channel: 'api', attempts: 1, ...message };
  return {
    blocks: {
      ada: {
        'config.json': JSON.stringify({ name: 'ada', ...RUNNABLE, tools: rules }),
        'chat.json': JSON.stringify([entry]),
        runs: { 'm1.jsonl': records.map((record) => `${JSON.stringify(record)}\n`).join('') },
      },
    },
  };
}

/** The kinds of the records, such as `call 1.1`. */
export function kindsOf(records: readonly RunRecord[]): string[] {
  return records.map((record) => ('call' in record ? `${record.t} ${record.call}` : record.t));
}

export { pay } from './calls.ts';
