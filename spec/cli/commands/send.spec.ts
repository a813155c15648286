import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DAEMON_END, daemonLine } from '../../support/server.ts';
import { sweep } from '../../support/sweep.ts';
import { until } from '../../support/until.ts';
import { type Answerer, sendJson } from '../../support/upstream.ts';
import { CLI, type Desk, openDesk, openDeskOfProcess, serve } from '../run.ts';

async function withBlock(desk: Desk, ...args: string[]): Promise<Desk> {
  await desk.on(['new', 'one', '--provider', 'ollama', '--model', 'm', ...args]);
  return desk;
}

t.test('a message is left: its id on stdout, a warning where nobody answers', async (t) => {
  const { on } = await withBlock(await openDesk(t));
  const first = await on(['send', 'one', 'hello\x1b[2J']);
  t.match(first, { code: 0, stdout: /^\S+\n$/, stderr: /^note: the monitor of one is not running; `.* start one .*` starts it\.\n$/ });
  t.match(JSON.parse((await on(['send', 'one', '-', '--json'], { input: 'piped' })).stdout), { queued: true, block: 'one', position: 1 });
  const again = ['send', 'one', 'x', '--client-id', 'mine'];
  t.equal((await on(again)).stdout, (await on(again)).stdout);
  t.match(await on(['send', 'one'], { input: ' ' }), { code: 2, stderr: /^blockhouse: .*empty.*\n$/ });
  const queue = await on(['queue', 'one']);
  t.match(queue.stdout, /^ID +STATUS +TRIES +SENT +MESSAGE\n\S+ +queued +0 .* hello\n\S+ +queued .* piped\n\S+ +queued .* x\n$/);
  const id = first.stdout.trim();
  t.match(JSON.parse((await on(['queue', 'one', '--cancel', id, '--json'])).stdout), { results: [{ success: true, entry: { id, status: 'cancelled' } }] });
  t.match(await on(['queue', 'one', '--cancel', id]), { code: 2, stderr: /^blockhouse: .*\n$/ });
  t.match(await on(['queue', 'one', '--retry', id]), { code: 0 });
  t.match(await on(['queue', 'one', '--retry', id, '--cancel', id]), { code: 2, stderr: /either/ });
  const { messages } = JSON.parse((await on(['queue', 'one', '--json'])).stdout) as { messages: object[] };
  t.equal(messages.length, 3);
  t.match(messages.at(-1), { id, channel: 'cli', status: 'queued' }, 'it waits at the end now');
});

t.test('--wait prints the answer, and --stream prints it while it is written', async (t) => {
  let finish = (): void => undefined;
  const answer: Answerer = ({ body }, res) => {
    res.writeHead(200, { 'content-type': 'application/x-ndjson' });
    res.write(daemonLine('first '));
    finish = () => void res.end(daemonLine('sec\x1b[31mond') + DAEMON_END);
    if (body.includes('at once') && !body.includes('in parts')) finish();
  };
  const { on, begin } = await withBlock(await openDesk(t, answer), '--start');
  t.same(await on(['send', 'one', '--wait', 'at once']), { code: 0, stdout: 'first second\n', stderr: '' });
  t.same(await on(['send', 'one', '--stream', 'at once']), { code: 0, stdout: 'first second\n', stderr: '' });
  const lines = begin(['send', 'one', '--stream', '--json', 'in parts']);
  await lines.printed('content');
  finish();
  const events = (await lines.ended).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { event: string; text?: string });
  t.equal(events[0]?.event, 'start');
  t.match(events.at(-1), { event: 'outcome', status: 'done', answer: { content: 'first sec\x1b[31mond' } });
});

t.test('a message that fails ends with the code of the provider, and its text', async (t) => {
  const { on } = await withBlock(await openDesk(t, (_request, res) => sendJson(res, { error: 'no\x1b[2J way' }, 400)), '--start');
  t.match(await on(['send', 'one', '--wait', 'hi']), { code: 4, stdout: '', stderr: /^blockhouse: .*no way.*\n$/ });
  const json = await on(['send', 'one', '--wait', '--json', 'hi']);
  t.equal(json.code, 4);
  t.match(JSON.parse(json.stdout), { status: 'failed', answer: null, error: /no/ });
});

t.test('who waits at a stopped block for a given time is told what is in the way; Ctrl-C cancels the message', async (t) => {
  const { begin, on } = await withBlock(await openDesk(t));
  const { child, ended } = begin(['send', 'one', '--wait', '--timeout', '60', 'hi']);
  let said = '';
  for await (const chunk of child.stderr) {
    said += String(chunk);
    if (/note: .*stopped/.test(said)) break;
  }
  child.kill('SIGINT');
  t.equal((await ended).code, 130);
  t.match((await on(['queue', 'one'])).stdout, /cancelled/);
});

t.test('Ctrl-C in mid-stream ends the reply at the provider; at a terminal, nothing is said in the line of the reply', async (t) => {
  let hasLeft = false;
  const answer: Answerer = (_request, res) => {
    res.once('close', () => (hasLeft = true));
    res.writeHead(200, { 'content-type': 'application/x-ndjson' }).write(daemonLine('half '));
  };
  const desk = await withBlock(await openDesk(t, answer), '--start');
  const commands = [
    ['send', 'one', '--stream', 'hi'],
    ['chat', 'one', 'hi'],
  ];
  for (const words of commands.slice(0, sweep(2, 1))) {
    hasLeft = false;
    const path = join(desk.workspace, 'screen');
    writeFileSync(path, '');
    const screen = openSync(path, 'a'); // stdout and stderr in one place, as at a terminal
    const child = spawn(process.execPath, [CLI, ...words, '--workspace', desk.workspace], { stdio: ['ignore', screen, screen] });
    t.teardown(() => {
      child.kill('SIGKILL');
      closeSync(screen);
    });
    await until('the reply has begun', () => readFileSync(path, 'utf8') === 'half ');
    child.kill('SIGINT');
    const [code] = (await once(child, 'close')) as [number];
    t.equal(code, 130);
    t.match(readFileSync(path, 'utf8'), /^half \n(?:note: .*\n)?The message is cancelled; `.* queue one --retry \S+ .*` sends it again\.\n$/);
    await until('the provider is left', () => hasLeft);
  }
});

t.test('a server that is killed and started again while somebody waits: the wait goes on, and the answer is printed', async (t) => {
  let requests = 0;
  const desk = await openDeskOfProcess(t, (_request, res) => {
    requests += 1;
    res.writeHead(200, { 'content-type': 'application/x-ndjson' });
    res.write(daemonLine('half '));
    if (requests > 1) res.end(daemonLine('whole') + DAEMON_END);
  });
  await withBlock(desk, '--start');
  const { printed, ended } = desk.begin(['send', 'one', '--stream', 'hi']);
  await printed('half');
  desk.server.child.kill('SIGKILL');
  await desk.server.ended;
  const second = await serve(t, desk.workspace, { OLLAMA_BASE_URL: desk.upstream.url }); // on another port
  const { code, stdout, stderr } = await ended;
  second.child.kill('SIGKILL');
  await second.ended;
  t.equal(code, 0);
  t.match(stdout, /half whole\n$/);
  t.match(stderr, /^note: the connection to the server was lost; .*\n(?:.*\n)*note: the server is back\.\n/);
  t.notMatch(stderr, 'bh_');
});

t.test('who waits for a block that does not run waits no longer than was said, and the message stays', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'idle', '--provider', 'ollama', '--model', 'm']);
  t.match(await on(['send', 'idle', '--wait', '--timeout', '0.5', 'hello']), {
    code: 4,
    stdout: '',
    stderr: /No answer came within 0\.5 s\. The message stays in the queue; `.* queue idle.*` shows it/,
  });
  t.match((await on(['queue', 'idle'])).stdout, 'hello');
  t.match(await on(['send', 'idle', '--wait', '--timeout', 'soon', 'x']), { code: 2, stderr: /--timeout must be a number of seconds/ });
  t.match(await on(['send', 'idle', '--timeout', '1', 'x']), { code: 2, stderr: /--timeout needs --wait/ });
});

t.test('who waits at a paused block is told at once, with the command that changes it', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama', '--model', 'm', '--start']);
  await on(['halt', 'for a test']);
  for (;;) if (JSON.parse((await on(['why', 'one', '--json'])).stdout).state === 'paused') break;
  t.match(await on(['send', 'one', '--wait', '--timeout', '0.2', 'hello']), {
    code: 4,
    stderr:
      /^note: one is paused and does not answer now\. The kill switch is set: for a test\. `blockhouse unhalt` changes that\.\nblockhouse: No answer came within 0\.2 s/,
  });
});

t.test('without --timeout, nobody waits for a block that answers only after somebody has changed something', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'idle', '--provider', 'ollama', '--model', 'm']);
  const ended =
    /^note: the monitor of idle is not running; `.* start idle.*` starts it\.\nblockhouse: idle will not answer before that changes\. The message stays in the queue; `.* history idle --id \S+.*` shows its answer then\.\n$/;
  t.match(await on(['send', 'idle', '--wait', 'hello']), { code: 7, stdout: '', stderr: ended });
  t.match(await on(['send', 'idle', '--stream', 'again']), { code: 7, stdout: '', stderr: ended });
  const json = await on(['send', 'idle', '--wait', '--json', 'third']);
  t.match({ ...json, stdout: JSON.parse(json.stdout) }, { code: 7, stdout: { error: /^idle will not answer/ } });
  t.match((await on(['queue', 'idle'])).stdout, /hello[\s\S]*again[\s\S]*third/);
});

t.test('a block without a model says how to give it one', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'bare']);
  t.match(await on(['send', 'bare', '--wait', 'hello']), {
    code: 7,
    stderr: /^note: bare is unconfigured and does not answer now\. .*config set bare .*\nblockhouse: bare will not answer/,
  });
});

t.test('a wait without --timeout ends after ten minutes', async (t) => {
  const { on } = await openDesk(t);
  t.match((await on(['send', '--help'])).stdout, /--timeout .*default: 600/);
});
