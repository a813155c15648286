import { PassThrough } from 'node:stream';
import t, { type Test } from 'tap';
import { talkWithModel } from '../../../cli/talk/model-talk.ts';
import { styleFor } from '../../../cli/terminal/output.ts';
import type { ContentPart } from '../../../core/index.ts';
import { DAEMON_END, daemonLine, startServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { type Answerer, sendJson } from '../../support/upstream.ts';

interface PersonOptions {
  readonly system?: string;
  readonly isWatched?: boolean;
  readonly attachments?: readonly ContentPart[];
}

/** A person who types to a model that answers as the test says. */
async function person(t: Test, answer: Answerer, { system, isWatched = false, attachments = [] }: PersonOptions = {}) {
  const { core, upstream } = await startServer(t, { answer });
  const [input, output, stdout] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const shown = { output: '', stdout: '' };
  output.on('data', (chunk) => {
    shown.output += String(chunk);
  });
  stdout.on('data', (chunk) => {
    shown.stdout += String(chunk);
  });
  const request = { adapter: 'ollama', model: 'm', config: {} };
  const view = { style: styleFor(false), isWatched, isVerbose: isWatched };
  const controller = new AbortController();
  const ended = talkWithModel({ core, request, system, attachments, input, output, stdout, terminal: true, signal: controller.signal, ...view });
  ended.catch(() => undefined); // looked at by the test
  const messages = (index: number): unknown => (JSON.parse(upstream.requests[index]?.body ?? '{}') as { messages: unknown }).messages;
  return { input, shown, ended, upstream, messages, controller };
}

/** Answers with the number of the request. */
const counting: Answerer = (_request, res, index) => {
  res.writeHead(200, { 'content-type': 'application/x-ndjson' });
  res.end(daemonLine(`answer ${index}`) + DAEMON_END);
};

t.test('each message goes with the whole conversation, until /clear; /bye leaves', async (t) => {
  const { input, shown, ended, messages } = await person(t, counting, { system: 'Be brief.' });
  await until('it asks', () => shown.output.includes('ollama › '));
  t.match(shown.output, /^ollama {2}m\n.*\/help lists the commands\.\n/);
  input.write('one\r');
  await until('it is answered', () => shown.stdout === 'answer 0\n');
  input.write('two\r');
  await until('it is answered', () => shown.stdout.endsWith('answer 1\n'));
  const rules = { role: 'system', content: 'Be brief.' };
  t.match(messages(1), [rules, { role: 'user', content: 'one' }, { role: 'assistant', content: 'answer 0' }, { role: 'user', content: 'two' }]);
  input.write('/clear\r');
  await until('it is told', () => shown.output.includes('The conversation was cleared.'));
  input.write('three\r');
  await until('it is answered', () => shown.stdout.endsWith('answer 2\n'));
  t.match(messages(2), { length: 2, 0: rules, 1: { content: 'three' } });
  input.write('/bye\r');
  t.equal(await ended, 'ok');
});

t.test('Ctrl-C cancels the answer, whose text so far stays in the conversation; without one, it leaves', async (t) => {
  const { input, shown, ended, messages, upstream } = await person(t, (_request, res, index) => {
    res.writeHead(200, { 'content-type': 'application/x-ndjson' });
    res.write(daemonLine('half'));
    if (index > 0) res.end(DAEMON_END);
  });
  input.write('one\r');
  await until('the answer has begun', () => shown.stdout === 'half');
  input.write('\x03');
  await (await upstream.arrived(0)).closed;
  await until('it is told', () => shown.output.includes('note: the answer was cancelled.'));
  t.equal(shown.stdout, 'half\n');
  input.write('two\r');
  await until('it is answered', () => shown.stdout.endsWith('half\nhalf\n'));
  t.match(messages(1), [{ content: 'one' }, { content: 'half' }, { content: 'two' }]);
  input.write('\x03');
  t.equal(await ended, 'ok');
});

t.test('attachments go with each message until one is answered, and stay in the conversation', async (t) => {
  const answer: Answerer = (request, res, index) => (index === 0 ? sendJson(res, { error: 'no' }, 400) : counting(request, res, index));
  const { input, shown, ended, messages } = await person(t, answer, { attachments: [{ type: 'image', mediaType: 'image/png', data: 'AAAA' }] });
  input.write('one\r');
  await until('it is told', () => /blockhouse: .*no/.test(shown.output));
  input.write('two\r');
  await until('it is answered', () => shown.stdout.endsWith('answer 1\n'));
  input.write('three\r');
  await until('it is answered', () => shown.stdout.endsWith('answer 2\n'));
  t.strictSame(messages(0), [{ role: 'user', content: 'one', images: ['AAAA'] }]);
  const [first, , last] = messages(2) as object[];
  t.strictSame(first, { role: 'user', content: 'two', images: ['AAAA'] });
  t.strictSame(last, { role: 'user', content: 'three' });
  input.write('/bye\r');
  t.equal(await ended, 'ok');
});

t.test('a message that fails is said and forgotten, and the conversation goes on', async (t) => {
  const { input, shown, ended, messages } = await person(t, (request, res, index) =>
    index === 0 ? sendJson(res, { error: 'no\x1b[2J way' }, 400) : counting(request, res, index),
  );
  input.write('one\r');
  await until('it is told', () => /blockhouse: .*no way/.test(shown.output));
  input.write('two\r');
  await until('it is answered', () => shown.stdout === 'answer 1\n');
  t.match(messages(1), { length: 1, 0: { content: 'two' } });
  input.write('\x04');
  t.equal(await ended, 'ok');
});

t.test('while a person waits, a line shows for how long; the speed comes after the answer', async (t) => {
  let finish = (): void => undefined;
  const later: Answerer = (request, res, index) => {
    finish = () => void counting(request, res, index);
  };
  const { input, shown, ended } = await person(t, later, { isWatched: true });
  input.write('one\r');
  await until('it shows', () => /\[K\S \ds {2}waiting for the model/.test(shown.output));
  finish();
  await until('it is answered', () => shown.stdout === 'answer 0\n');
  await until('the speed shows', () => /\d tokens in \d/.test(shown.output));
  input.write('\x04');
  await ended;
});

t.test('a signal from outside ends the conversation as an interruption', async (t) => {
  const { shown, ended, controller } = await person(t, counting);
  await until('it asks', () => shown.output.includes('ollama › '));
  controller.abort();
  await t.rejects(ended, { kind: 'interrupted', message: /./ });
});
