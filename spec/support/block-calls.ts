// Calls that specs of blocks make again and again.
import { type Answer, type TestServer, until } from './server.ts';

/** What a block needs to run before the fake daemon of `startServer`. */
export const RUNNABLE = { adapter: { provider: 'ollama', model: 'm' } };

export interface Entry {
  readonly id: string;
  readonly role: string;
  readonly status: string;
  readonly content: string;
  readonly replyTo?: string;
  readonly channel: string;
  readonly attempts?: number;
}

export async function createBlock(server: TestServer, name: string, config: object = RUNNABLE): Promise<void> {
  const answer = await server.call('POST', '/api/blocks', { body: { name, config } });
  if (answer.status !== 200) throw new Error(`${name} was not created: ${answer.text}`);
}

export async function historyOf(server: TestServer, name: string): Promise<Entry[]> {
  const { json } = await server.call('GET', `/api/blocks/${name}/chat`);
  return json['messages'] as Entry[];
}

/** Posts a message and waits until it has its answer, and the monitor waits for the next one. */
export async function ask(server: TestServer, name: string, message: string): Promise<Entry> {
  const { json } = await server.call('POST', `/api/blocks/${name}/chat`, { body: { message } });
  const answered = async (): Promise<Entry | undefined> => (await historyOf(server, name)).find(({ replyTo }) => replyTo === json['id']);
  await until(async () => (await answered()) !== undefined, `an answer to ${message}`);
  await until(async () => (await server.call('GET', `/api/blocks/${name}/why`)).json['state'] === 'idle', `${name} to be idle again`);
  return (await answered()) as Entry;
}

export async function revisionOf(server: TestServer, name: string): Promise<number> {
  const answer: Answer = await server.call('GET', `/api/blocks/${name}/config`);
  return (answer.json['config'] as { rev: number }).rev;
}
