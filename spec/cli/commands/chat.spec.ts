import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import { CHAT, DAEMON_END, daemonLine, friendlyDaemon } from '../../support/server.ts';
import { testFolder } from '../../support/test-folder.ts';
import { type Answerer, type FakeUpstream, sendJson, startUpstream } from '../../support/upstream.ts';
import { CLI, openDesk, type RunOptions, runHere, start } from '../run.ts';

async function daemon(t: Test, answer: Answerer): Promise<{ upstream: FakeUpstream; env: Record<string, string>; args: string[] }> {
  const upstream = await startUpstream(t, answer);
  return { upstream, env: { OLLAMA_BASE_URL: upstream.url }, args: ['chat', '--provider', CHAT.adapter, '--model', CHAT.model, '--workspace', testFolder(t)] };
}

const open = (res: ServerResponse): void => void res.writeHead(200, { 'content-type': 'application/x-ndjson' });

/** Streams the given texts. */
const saying =
  (...texts: string[]): Answerer =>
  (_request, res) => {
    open(res);
    res.end(texts.map(daemonLine).join('') + DAEMON_END);
  };

function sentTo(upstream: FakeUpstream, index = 0): Record<string, unknown> {
  return JSON.parse(upstream.requests[index]?.body ?? '{}') as Record<string, unknown>;
}

t.test('the answer is printed whole, with one newline at its end', async (t) => {
  const { args, env, upstream } = await daemon(t, friendlyDaemon);
  const expected = { code: 0, stdout: 'Hello, you\n', stderr: '' };
  t.same(await runHere(t, [...args, 'hi'], { env }), expected);
  t.match(sentTo(upstream), { stream: true });
  t.same(await runHere(t, [...args, '--no-stream', 'hi'], { env }), expected);
  t.match(sentTo(upstream, 1), { stream: false });
});

t.test('options reach the provider', async (t) => {
  const { args, env, upstream } = await daemon(t, friendlyDaemon);
  await runHere(t, [...args, '--system', 'Be brief.', '--max-tokens', '7', '--temperature', '0.5', 'hi'], { env });
  t.match(sentTo(upstream), {
    model: 'm',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hi' },
    ],
    options: { num_predict: 7, temperature: 0.5 },
  });
});

t.test('the message comes from standard input for - and for a pipe, and an empty one is refused', async (t) => {
  const { args, env, upstream } = await daemon(t, friendlyDaemon);
  await runHere(t, [...args, '-'], { env, input: 'piped 1' });
  await runHere(t, args, { env, input: 'piped 2' });
  t.match(sentTo(upstream, 0), { messages: [{ content: 'piped 1' }] });
  t.match(sentTo(upstream, 1), { messages: [{ content: 'piped 2' }] });
  t.match(await runHere(t, args, { env, input: ' \n' }), { code: 2, stdout: '' });
  t.equal(upstream.requests.length, 2);
});

t.test('escape sequences never come through, also when they are split over fragments', async (t) => {
  const { args, env } = await daemon(t, saying('a\x1b', '[31mred\x1b]0;ti', 'tle\x07 b\u202e', '\x9b2Jc'));
  t.equal((await runHere(t, [...args, 'hi'], { env })).stdout, 'ared bc\n');
  const { stdout } = await runHere(t, [...args, '--json', 'hi'], { env });
  t.notOk(['\x1b', '\x9b', '\u202e'].some((char) => stdout.includes(char)));
});

t.test('--json gives a line for each event, or one document', async (t) => {
  const { args, env } = await daemon(t, friendlyDaemon);
  const { stdout } = await runHere(t, [...args, '--json', 'hi'], { env });
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; text?: string });
  t.equal(events[0]?.type, 'start');
  t.match(events.at(-1), { type: 'done', stopReason: 'end_turn', usage: { inputTokens: 3, outputTokens: 2 } });
  t.equal(events.map(({ text }) => text ?? '').join(''), 'Hello, you');
  const whole = await runHere(t, [...args, '--json', '--no-stream', 'hi'], { env });
  t.match(JSON.parse(whole.stdout), { provider: 'ollama', message: { role: 'assistant', content: 'Hello, you' } });
});

t.test('a failure in mid-answer keeps what came, and is told on a line of its own', async (t) => {
  const { args, env } = await daemon(t, (_request, res) => {
    open(res);
    res.end(daemonLine('half an answer'));
  });
  t.match(await runHere(t, [...args, 'hi'], { env }), { code: 4, stdout: 'half an answer\n', stderr: /^blockhouse: .*cut short.*\n$/ });
  const lines = (await runHere(t, [...args, '--json', 'hi'], { env })).stdout.trim().split('\n');
  t.match(JSON.parse(lines.at(-1) ?? ''), { type: 'error', code: 'UPSTREAM_MALFORMED' });
});

t.test('exit codes tell bad input, a missing credential and a failing provider apart', async (t) => {
  const { args, env } = await daemon(t, (_request, res) => sendJson(res, { error: 'model "m" not found\x1b[2J' }, 404));
  const code = async (extra: string[], options: RunOptions = { env }): Promise<number | null> => (await runHere(t, [...args, ...extra], options)).code;
  t.equal(await code(['--temperature', '3', 'hi']), 2);
  t.equal(await code(['--temperature', 'warm', 'hi']), 2);
  t.equal(await code(['--provider', 'nobody', 'hi']), 2);
  t.equal(await code(['hi'], { env: { OLLAMA_BASE_URL: 'https://ollama.com' } }), 3);
  const failed = await runHere(t, [...args, 'hi'], { env });
  t.match(failed, { code: 4, stdout: '', stderr: /^blockhouse: .*not found.*\n$/ });
  t.notMatch(failed.stderr, '\x1b');
});

t.test('an answer that was cut by a limit says so on stderr', async (t) => {
  const { args, env } = await daemon(t, (_request, res) => {
    open(res);
    res.end(daemonLine('long') + DAEMON_END.replace('"stop"', '"length"'));
  });
  t.match(await runHere(t, [...args, 'hi'], { env }), { code: 0, stdout: 'long\n', stderr: 'note: the answer ended with max_tokens.\n' });
});

t.test('--timeout ends the wait for a model, with the text so far', async (t) => {
  const { args, env } = await daemon(t, (_request, res) => {
    open(res);
    res.write(daemonLine('half '));
  });
  t.match(await runHere(t, [...args, '--timeout', '0.5', 'hi'], { env }), {
    code: 4,
    stdout: 'half \n',
    stderr: /^blockhouse: No answer came within 0\.5 s\.\n$/,
  });
  t.match(await runHere(t, [...args, '--timeout', '0', 'hi'], { env }), { code: 2, stderr: /--timeout must be a number of seconds above 0/ });
});

t.test('text is shown while the provider still writes; Ctrl-C in mid-answer aborts the upstream request and ends with 130', async (t) => {
  const { args, env, upstream } = await daemon(t, (_request, res) => {
    open(res);
    res.write(daemonLine('endless'));
  });
  const { child, printed, ended } = start(t, [...args, 'hi'], { env });
  await printed('endless');
  child.kill('SIGINT');
  await (await upstream.arrived(0)).closed;
  t.match(await ended, { code: 130, stdout: 'endless\n', stderr: '' });
});

t.test('a reader that leaves ends it quietly with 0, and the upstream connection is closed', async (t) => {
  const { args, env, upstream } = await daemon(t, async (_request, res) => {
    open(res);
    for (;;) {
      if (res.destroyed) return;
      if (!res.write(daemonLine('x'.repeat(1000)))) await Promise.race([once(res, 'drain'), once(res, 'close')]);
      await new Promise(setImmediate);
    }
  });
  const { child, ended } = start(t, [...args, 'hi'], { env });
  await once(child.stdout, 'data');
  child.stdout.destroy();
  await (await upstream.arrived(0)).closed;
  t.match(await ended, { code: 0, stderr: '' });
});

t.test('an argument and a pipe are one message', async (t) => {
  const { args, env, upstream } = await daemon(t, friendlyDaemon);
  await runHere(t, [...args, 'explain'], { env, input: 'line 1\nline 2\n' });
  t.match(sentTo(upstream), { messages: [{ content: 'explain\n\nline 1\nline 2\n' }] });
});

t.test('a program that leaves the input open waits a second longer, and a slow command before the pipe is waited for', async (t) => {
  const { args, env, upstream } = await daemon(t, friendlyDaemon);
  const open = start(t, [...args, 'hi'], { env, input: null }).ended;
  const command = [process.execPath, CLI, ...args, 'hi'].map((word) => `'${word}'`).join(' ');
  const shell = spawn('sh', ['-c', `{ sleep 2; echo late; } | ${command}`], { env: { ...process.env, ...env }, stdio: 'ignore' });
  await once(shell, 'close');
  t.match(await open, { code: 0, stdout: 'Hello, you\n', stderr: /^note: standard input gave nothing for 1 s, so the message is sent without it;/ });
  const sent = upstream.requests.map((_, index) => sentTo(upstream, index)['messages'] as { content: string }[]);
  t.same(new Set(sent.map(([message]) => message?.content)), new Set(['hi', 'hi\n\nlate\n']));
});

t.test('without a provider, the only one that can be used is asked, for a model that it has', async (t) => {
  const { env, upstream } = await daemon(t, friendlyDaemon);
  const workspace = testFolder(t);
  t.match(await runHere(t, ['chat', 'Why is the sky blue?', '--workspace', workspace], { env }), { code: 0, stdout: 'Hello, you\n', stderr: '' });
  t.match(JSON.parse(upstream.requests.at(-1)?.body ?? ''), { model: 'm:1b', messages: [{ content: 'Why is the sky blue?' }] });
  t.match(await runHere(t, ['chat', '--model', 'm', '--workspace', workspace], { env, input: 'piped' }), { code: 0, stdout: 'Hello, you\n' });
  t.match(JSON.parse(upstream.requests.at(-1)?.body ?? ''), { model: 'm', messages: [{ content: 'piped' }] });
});

t.test('--provider, --adapter and -a are one option', async (t) => {
  const { env } = await daemon(t, friendlyDaemon);
  for (const option of ['--provider', '--adapter', '-a'])
    t.match(await runHere(t, ['chat', option, 'ollama', '-m', 'm', 'hi', '--workspace', testFolder(t)], { env }), { code: 0, stdout: 'Hello, you\n' }, option);
  t.match(await runHere(t, ['chat', '--help']), { code: 0, stdout: /-a, --provider <id> / });
  t.notMatch((await runHere(t, ['chat', '--help'])).stdout, 'adapter');
});

t.test('one word that is no block is a message, and a note says so', async (t) => {
  const { env } = await daemon(t, friendlyDaemon);
  t.same(await runHere(t, ['chat', '--model', 'm', 'hi', '--workspace', testFolder(t)], { env }), { code: 0, stdout: 'Hello, you\n', stderr: '' });
  const unknown = await runHere(t, ['chat', 'hi', '--workspace', testFolder(t)], { env: { OLLAMA_BASE_URL: 'http://127.0.0.1:9' } });
  t.match(unknown, { code: 3, stderr: /^note: there is no block hi, so this goes to a model\.\nblockhouse: No provider is ready yet; `.* providers`/ });
});

t.test('a block is asked by its name, with a message, a pipe, or both', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama', '--model', 'm', '--start']);
  t.same(await on(['chat', 'one', 'hi']), { code: 0, stdout: 'Hello, you\n', stderr: '' });
  t.same(await on(['chat', 'one', '--no-stream', 'explain'], { input: 'a\nb' }), { code: 0, stdout: 'Hello, you\n', stderr: '' });
  t.same(await on(['chat', 'one'], { input: 'c\nd' }), { code: 0, stdout: 'Hello, you\n', stderr: '' });
  const { messages } = JSON.parse((await on(['history', 'one', '--json'])).stdout) as { messages: { role: string; content: string }[] };
  t.same(
    messages.filter(({ role }) => role === 'user').map(({ content }) => content),
    ['hi', 'explain\n\na\nb', 'c\nd'],
  );
  const lines = (await on(['chat', 'one', '--json', 'hi'])).stdout.trim().split('\n');
  t.match(JSON.parse(lines.at(-1) ?? ''), { event: 'outcome', answer: { content: 'Hello, you' } });
});

t.test('what does not go together is refused, with what to do', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama', '--model', 'm']);
  t.match(await on(['chat', '--model', 'm', 'why', 'so']), { code: 2, stderr: /one argument; put it in quotes/ });
  t.match(await on(['chat', 'one', '--system', 'x', 'hi']), { code: 2, stderr: /--system is for a model; the block one has its own/ });
  t.match(await on(['chat', 'one', '--temperature', '0', 'hi']), { code: 2, stderr: /--temperature is for a model/ });
  t.match(await on(['chat', 'hello', 'there']), { code: 2, stderr: /There is no block hello\. A message to a model is one argument; put it in quotes\./ });
  t.match(await on(['chat']), { code: 2, stderr: /The message on standard input is empty\./ });
});

t.test('a block whose server does not run is named by the exit code, not asked of a model', async (t) => {
  const workspace = t.testdir({ blocks: { one: {} } });
  t.match(await runHere(t, ['chat', 'one', 'hi', '--workspace', workspace]), { code: 6, stderr: /^blockhouse: No server is running for the workspace / });
  t.match(await runHere(t, ['chat', 'one', '--workspace', workspace]), { code: 6 });
});

t.test('images, files, a schema and the effort reach the provider with the message', async (t) => {
  const { args, env, upstream } = await daemon(t, friendlyDaemon);
  const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.from('pixels')]);
  const folder = t.testdir({ 'photo.txt': png, 'notes.md': 'a note', 'answer.json': '{"type": "object", "properties": {"n": {"type": "number"}}}' });
  const given = ['--image', `${folder}/photo.txt`, '--file', `${folder}/notes.md`, '--schema', `${folder}/answer.json`, '--effort', 'high'];
  t.match(await runHere(t, [...args, ...given, 'hi'], { env }), { code: 0, stderr: '' });
  t.match(sentTo(upstream), {
    messages: [{ role: 'user', content: 'a note\nhi', images: [png.toString('base64')] }],
    format: { type: 'object', properties: { n: { type: 'number' } } },
    think: true,
  });
});

t.test('a file that can not be sent is an error before anything is sent', async (t) => {
  const { args, env, upstream } = await daemon(t, friendlyDaemon);
  const folder = t.testdir({ 'notes.txt': 'a note', 'bad.json': '{"type": }' });
  t.match(await runHere(t, [...args, '--image', `${folder}/none.png`, 'hi'], { env }), { code: 2, stderr: /--image: .*none\.png is not there/ });
  t.match(await runHere(t, [...args, '--image', `${folder}/notes.txt`, 'hi'], { env }), { code: 2, stderr: /is not a PNG, JPEG, GIF or WebP image/ });
  t.match(await runHere(t, [...args, '--schema', `${folder}/bad.json`, 'hi'], { env }), { code: 2, stderr: /--schema: .*bad\.json is not valid JSON: line 1/ });
  t.match(await runHere(t, [...args, '--effort', 'much', 'hi'], { env }), { code: 2, stderr: /--effort must be one of none, minimal,/ });
  t.equal(upstream.requests.length, 0);
});

t.test('a message to a block has no attachments, schema or effort', async (t) => {
  const workspace = t.testdir({ blocks: { one: {} } });
  const refusal = async (...options: string[]) => runHere(t, ['chat', 'one', ...options, 'hi', '--workspace', workspace]);
  t.match(await refusal('--image', 'a.png'), { code: 2, stderr: /--image is for a model; a message to a block is text only\./ });
  t.match(await refusal('--file', 'a.txt'), { code: 2, stderr: /--file is for a model; a message to a block is text only\./ });
  t.match(await refusal('--schema', 'a.json'), { code: 2, stderr: /--schema is for a model; a block has no such setting\./ });
  t.match(await refusal('--effort', 'low'), { code: 2, stderr: /--effort is for a model/ });
});
