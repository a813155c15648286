// A client of a block as a model across a kill -9 of its server: one message, one call that counts, one answer.
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { EchoDaemon, echoOf } from '../support/crash/echo-daemon.ts';
import { ServerProcess } from '../support/crash/server-process.ts';
import { heldDaemon } from '../support/held-daemon.ts';
import { sweep } from '../support/sweep.ts';
import { testFolder } from '../support/test-folder.ts';
import { startUpstream } from '../support/upstream.ts';

t.setTimeout(240_000);

const RUNNABLE = { adapter: { provider: 'ollama', model: 'm' }, retry: { baseMs: 1, maxDelayMs: 50, maxAttempts: 5 } };
const PROTOCOLS = ['/v1/chat/completions', '/v1/responses', '/v1/messages', '/ollama/api/chat'];

interface Asked {
  readonly status: number;
  readonly text: string;
}

class Client {
  readonly #url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  /** Undefined when the connection broke. */
  ask(
    content: string,
    { path = '/v1/chat/completions', key, stream = false }: { path?: string; key?: string; stream?: boolean } = {},
  ): Promise<Asked | undefined> {
    const turn = path === '/v1/responses' ? { input: content } : { messages: [{ role: 'user', content }], max_tokens: 9 };
    return new Promise((resolve) => {
      const asking = request(
        `${this.#url}${path}`,
        {
          method: 'POST',
          agent: false,
          headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) },
        },
        (response) => {
          let text = '';
          response.on('data', (bytes: Buffer) => {
            text += bytes.toString();
          });
          response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
          response.on('error', () => resolve(undefined));
        },
      );
      asking.on('error', () => resolve(undefined));
      asking.end(JSON.stringify({ model: 'block/ada', ...turn, stream }));
    });
  }
}

/** Starts the built server, which has the running block ada after the first time. */
async function life(t: Test, workspace: string, daemonUrl: string) {
  const server = new ServerProcess({ workspace, daemonUrl });
  t.teardown(() => server.kill());
  const ready = await server.ready();
  if (ready === undefined) throw new Error(`it did not start: ${server.stderr}`);
  const { client } = ready;
  if ((await client.call('GET', '/api/blocks/ada'))?.status !== 200) {
    await client.call('POST', '/api/blocks', { name: 'ada', config: RUNNABLE });
    await client.call('POST', '/api/blocks/ada/start');
  }
  const messages = async (): Promise<{ role: string; content: string; status: string }[]> => {
    const { json } = (await client.call('GET', '/api/blocks/ada/chat')) as unknown as {
      json: { messages: { role: string; content: string; status: string }[] };
    };
    return json.messages;
  };
  return { server, messages, program: new Client((await server.url) ?? '', readFileSync(join(workspace, '.api-token'), 'utf8').trim()) };
}

t.test('a client attaches across a kill in the middle of the answer, by its idempotency key and by its words', async (t) => {
  const workspace = testFolder(t);
  const daemon = heldDaemon();
  const upstream = await startUpstream(t, daemon.answer);
  const first = await life(t, workspace, upstream.url);
  const lost = [first.program.ask('by key', { key: 'k-1', stream: true }), first.program.ask('by words')];
  (await daemon.call(0)).say('Hel');
  await first.server.kill();
  for (const answer of await Promise.all(lost)) t.notMatch(answer?.text ?? '', /DONE|Hello again/);
  const second = await life(t, workspace, upstream.url);
  const again = [second.program.ask('by key', { key: 'k-1', path: '/v1/messages' }), second.program.ask('by words')];
  (await daemon.call(1)).answer('Hello again');
  (await daemon.call(2)).answer('Hello again');
  for (const answer of await Promise.all(again)) t.match(answer, { status: 200, text: /Hello again/ });
  t.match((await second.messages()).map(({ role, status }) => `${role} ${status}`).sort(), ['assistant done', 'assistant done', 'user done', 'user done']);
});

t.test('kill -9 again and again: each question is one message with one answer, whatever protocol asks again', async (t) => {
  const workspace = testFolder(t);
  const daemon = new EchoDaemon(Math.floor(Math.random() * 2 ** 31));
  const daemonUrl = await daemon.listen();
  t.teardown(() => daemon.close());
  const questions = Array.from({ length: 6 }, (_, n) => `msg ada/${n}`);
  const open = new Map(questions.map((question) => [question, undefined as Asked | undefined]));
  let asks = 0;
  for (let kills = sweep(6, 1); kills >= 0; kills -= 1) {
    const { server, program, messages } = await life(t, workspace, daemonUrl);
    const asking = questions.map(async (question) => {
      asks += 1;
      const answer = await program.ask(question, { key: question, path: PROTOCOLS[asks % PROTOCOLS.length] ?? '', stream: asks % 3 === 0 });
      if (answer?.status === 200) open.set(question, answer);
    });
    if (kills === 0) {
      await Promise.all(asking);
      const all = await messages();
      const asked = all.filter(({ role }) => role === 'user').map(({ content }) => content);
      t.strictSame(asked.sort(), questions, 'one message each');
      t.strictSame(
        all
          .filter(({ role }) => role === 'assistant')
          .map(({ content }) => content)
          .sort(),
        questions.map(echoOf),
        'one answer each',
      );
    } else await new Promise((resolve) => setTimeout(resolve, Math.random() * 60));
    await server.kill();
    await Promise.all(asking);
  }
  for (const [question, answer] of open) t.equal(answer?.status, 200, question);
});
