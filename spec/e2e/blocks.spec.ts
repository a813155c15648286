// The life of a block, from its making to its end, over HTTP, the WebSocket and the command.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { until } from '../support/until.ts';
import type { Received, WsClient } from '../support/ws.ts';
import { frameFaults, type Service, startService } from './service.ts';

const WORDS = 'Grüße from a stand-in, in more than one piece: ✓ 🙂 and so on.';
const BLOCK = '/api/blocks/{name}';
const ADA = { params: { name: 'ada' } };
const RUNNABLE = { adapter: { provider: 'ollama', model: 'stand-in' } };

interface Entry {
  readonly id: string;
  readonly role: string;
  readonly content: string;
  readonly status: string;
  readonly replyTo?: string;
}

async function history(t: Test, service: Service, name: string): Promise<Entry[]> {
  return (await service.call(t, 'GET', `${BLOCK}/chat`, 200, { params: { name } })).messages as Entry[];
}

/** Waits until a message has its answer. */
async function answerTo(t: Test, service: Service, name: string, id: string): Promise<Entry> {
  const limit = performance.now() + 20_000;
  for (;;) {
    const answer = (await history(t, service, name)).find(({ replyTo }) => replyTo === id);
    if (answer !== undefined) return answer;
    if (performance.now() > limit) throw new Error(`no answer to ${id}`);
  }
}

/** A notice that has come after `from` frames. */
async function refreshed(client: WsClient, from: number, block: string): Promise<void> {
  await until(`a refresh of ${block}`, () => client.frames.slice(from).some(({ type, block: of }) => type === 'refresh' && of === block));
}

function stepsOf(client: WsClient, id: string): Received[] {
  return client.frames.filter((frame) => frame['type'] === 'stream' && frame['id'] === id);
}

t.test('the life of a block', async (t) => {
  const service = await startService(t, WORDS);
  const { call, cli } = service;
  const client = await service.connect(t);
  let firstId = '';

  await t.test('it is made, and says what it lacks', async (t) => {
    t.strictSame(await call(t, 'GET', '/api/blocks', 200), { blocks: [] });
    t.strictSame(await call(t, 'POST', '/api/blocks', 200, { body: { name: 'ada', config: { description: 'the first' } } }), { success: true, name: 'ada' });
    t.match(await call(t, 'POST', '/api/blocks', 409, { body: { name: 'ada' } }), { code: 'NAME_TAKEN', status: 409 });
    t.match(await call(t, 'POST', '/api/blocks', 400, { body: { name: '../ada' } }), { code: 'INVALID_REQUEST', status: 400 });
    t.match(await call(t, 'GET', '/api/blocks', 200), {
      blocks: [{ name: 'ada', status: 'SLEEPING', state: 'unconfigured', config: { description: 'the first' } }],
    });
    t.match(await call(t, 'POST', `${BLOCK}/start`, 400, ADA), { error: /config set ada/ });
  });

  await t.test('a subscriber is told at once, and of every change', async (t) => {
    client.send({ type: 'subscribe', block: 'ada', stream: true });
    t.strictSame(await client.received(1), [{ type: 'refresh', block: 'ada' }]);
    const { config } = await call(t, 'PUT', `${BLOCK}/config`, 200, { ...ADA, body: RUNNABLE });
    t.match(config, { name: 'ada', description: 'the first', ...RUNNABLE }, 'what is not named is kept');
    await refreshed(client, 1, 'ada');
    t.match(await call(t, 'GET', BLOCK, 200, ADA), { name: 'ada', config, memory: { facts: [] }, costs: { calls: 0 }, pulse: { state: 'stopped' } });
    client.send({ type: 'subscribe', block: 'nobody' });
    await until('the refusal', () => client.frames.some(({ type }) => type === 'error'));
    t.match(
      client.frames.find(({ type }) => type === 'error'),
      { code: 'BLOCK_NOT_FOUND', block: 'nobody' },
    );
  });

  await t.test('a message is answered, word for word while it is written and afterwards', async (t) => {
    t.match(await call(t, 'POST', `${BLOCK}/start`, 200, ADA), { success: true, pulse: { desired: 'running' } });
    const from = client.frames.length;
    const post = { ...ADA, body: { message: 'Who are you?', clientId: 'once' } };
    const receipt = await call(t, 'POST', `${BLOCK}/chat`, 200, post);
    firstId = receipt.id as string;
    t.match(receipt, { queued: true, block: 'ada', running: true });
    t.match(await answerTo(t, service, 'ada', firstId), { role: 'assistant', content: WORDS, status: 'done', provider: 'ollama', model: 'stand-in' });
    await until('the last step', () => stepsOf(client, firstId).some(({ event }) => event === 'done'));
    const steps = stepsOf(client, firstId);
    t.match(steps[0], { event: 'start', provider: 'ollama', model: 'stand-in', attempt: 1 });
    t.match(steps.at(-1), { event: 'done', status: 'done', stopReason: 'end_turn' });
    const pieces = steps.slice(1, -1);
    t.ok(pieces.length > 1 && pieces.every(({ event }) => event === 'content'), `${pieces.length} pieces`);
    t.equal(pieces.map(({ text }) => text).join(''), WORDS);
    await refreshed(client, from, 'ada');
    t.equal((await call(t, 'POST', `${BLOCK}/chat`, 200, post)).id, firstId, 'the same clientId is the same message');
    t.equal((await history(t, service, 'ada')).length, 2);
    t.match(service.mock.getLastRequest()?.body, { model: 'stand-in' });
  });

  await t.test('the command and HTTP say the same', async (t) => {
    const sent = await cli('send', 'ada', 'And from here?', '--wait');
    t.match(sent, { code: 0 }, sent.stderr);
    t.ok(sent.stdout.includes('more than one piece'), 'the answer is printed');
    const messages = await history(t, service, 'ada');
    t.strictSame(
      messages.map(({ role }) => role),
      ['user', 'assistant', 'user', 'assistant'],
    );
    t.match(messages[2], { content: 'And from here?', channel: 'cli' });
    const details = await call(t, 'GET', BLOCK, 200, ADA);
    t.match(details.costs, { calls: 2, byPurpose: { chat: { calls: 2 } } });
    t.match(JSON.parse((await cli('show', 'ada')).stdout), { name: 'ada', costs: { calls: 2 } });
    t.match(await call(t, 'GET', '/api/costs', 200), { by: 'block', rows: [{ key: 'ada', calls: 2 }] });
    t.match(JSON.parse((await cli('costs')).stdout), { rows: [{ key: 'ada', calls: 2 }] });
    t.match(await call(t, 'GET', `${BLOCK}/why`, 200, ADA), { name: 'ada', state: /idle|working/ });
    const { logs } = await call(t, 'GET', `${BLOCK}/logs`, 200, ADA);
    t.match(logs[0].content, /INFO reply\.done id=\S+ model=stand-in/);
    t.notOk(JSON.stringify(logs).includes(service.token));
  });

  await t.test('a stopped block keeps what it is told', async (t) => {
    t.match(await call(t, 'POST', `${BLOCK}/stop`, 200, ADA), { pulse: { state: 'stopped', status: 'SLEEPING', desired: 'stopped' } });
    t.match(await call(t, 'POST', `${BLOCK}/stop`, 200, ADA), { pulse: { state: 'stopped' } }, 'twice is once');
    t.match(await call(t, 'POST', `${BLOCK}/chat`, 200, { ...ADA, body: { message: 'Are you there?' } }), { running: false, position: 0 });
    t.match(await call(t, 'GET', '/api/blocks', 200), { blocks: [{ name: 'ada', queue: 1, state: 'stopped' }] });
    t.match(await call(t, 'GET', '/api/health', 200), { status: 'ok', blocks: 1, monitorsRunning: 0 });
  });

  await t.test('it goes to the archive and comes back, whole', async (t) => {
    const before = await history(t, service, 'ada');
    const { archiveName } = await call(t, 'DELETE', BLOCK, 200, ADA);
    await until('the farewell', () => client.frames.some(({ type }) => type === 'gone'));
    await call(t, 'GET', BLOCK, 404, ADA);
    t.strictSame(await call(t, 'GET', '/api/blocks', 200), { blocks: [] });
    t.match(await call(t, 'GET', '/api/archive', 200), { archives: [{ archiveName, originalName: 'ada', wasRunning: false, queuedMessages: 1 }] });
    t.match(await call(t, 'POST', '/api/archive/{name}/restore', 200, ADA), { success: true, name: 'ada' });
    t.strictSame(await history(t, service, 'ada'), before);
    t.match(await call(t, 'GET', BLOCK, 200, ADA), { pulse: { state: 'stopped' }, costs: { calls: 2 } });
    await call(t, 'POST', '/api/archive/{name}/restore', 404, ADA);
  });

  await t.test('it comes back under another name, and answers what had waited', async (t) => {
    const { archiveName } = await call(t, 'DELETE', BLOCK, 200, ADA);
    await call(t, 'POST', '/api/blocks', 200, { body: { name: 'ada' } });
    const params = { name: archiveName as string };
    t.match(await call(t, 'POST', '/api/archive/{name}/restore', 409, { params }), { code: 'NAME_TAKEN' });
    const restored = await cli('restore', archiveName as string, '--as', 'grace');
    t.match(restored, { code: 0 }, restored.stderr);
    t.match(await call(t, 'GET', BLOCK, 200, { params: { name: 'grace' } }), { config: { name: 'grace', description: 'the first' } });
    const from = client.frames.length;
    client.send({ type: 'subscribe', block: 'grace' });
    await refreshed(client, from, 'grace');
    t.match(await cli('start', 'grace'), { code: 0 });
    const waiting = (await history(t, service, 'grace')).find(({ content }) => content === 'Are you there?');
    t.match(await answerTo(t, service, 'grace', waiting?.id ?? ''), { content: WORDS });
    t.equal(stepsOf(client, waiting?.id ?? '').length, 0, 'no steps for who did not ask for them');
  });

  await t.test('what is purged is gone, and what it has cost is not', async (t) => {
    t.match(await cli('rm', 'grace', '--yes'), { code: 0 });
    const { archiveName } = await call(t, 'DELETE', BLOCK, 200, ADA);
    t.equal((await call(t, 'GET', '/api/archive', 200)).archives.length, 2);
    t.match(await call(t, 'DELETE', '/api/archive/{name}', 200, { params: { name: archiveName as string } }), { success: true });
    await call(t, 'DELETE', '/api/archive/{name}', 404, { params: { name: archiveName as string } });
    t.match(await cli('purge', 'grace', '--yes'), { code: 0 });
    t.strictSame(await call(t, 'GET', '/api/archive', 200), { archives: [] });
    t.match(await call(t, 'GET', '/api/costs', 200), { total: { calls: 3 } });
    for (const folder of ['blocks', 'archive']) t.strictSame(readdirSync(join(service.workspace, folder)), [], folder);
  });

  await t.test('nothing is told without the token', async (t) => {
    for (const token of [null, 'wrong']) {
      await call(t, 'GET', '/api/blocks', 401, { token });
      await call(t, 'DELETE', BLOCK, 401, { ...ADA, token });
      t.strictSame(await call(t, 'GET', '/api/auth/status', 200, { token }), { authenticated: false });
    }
    const stranger = new WebSocket(`ws://127.0.0.1:${service.port}/api/ws?token=wrong`);
    stranger.on('error', () => undefined); // ended before it began
    const status = await new Promise((resolve) => {
      stranger.on('unexpected-response', (_request, response) => resolve(response.statusCode));
      stranger.on('open', () => resolve('open'));
    });
    t.equal(status, 401);
    stranger.terminate();
  });

  await t.test('every frame was one of the contract, and the server ends in good order', async (t) => {
    for (const frame of client.frames) t.strictSame(frameFaults(frame), [], JSON.stringify(frame).slice(0, 100));
    service.server.child.kill('SIGTERM');
    t.equal((await service.server.ended).code, 0);
    t.match(await client.untilClosed(), { code: 1001 });
    t.match(readFileSync(join(service.workspace, 'ledger.jsonl'), 'utf8').trim().split('\n'), { length: 4 }, 'three calls, and a name that was carried on');
  });
});
