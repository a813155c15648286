// Providers that never come to an end.
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import { MAX_ANSWER_CHARACTERS } from '../../../../core/block/reply/answer-text.ts';
import { pair } from '../../../support/block-files.ts';
import { RUNNABLE, runnable, type StartedCore, startCore } from '../../../support/blocks.ts';
import { until } from '../../../support/until.ts';
import type { Answerer } from '../../../support/upstream.ts';

const PIECE = 'All work and no play. '.repeat(700);
const LINE = `${JSON.stringify({ message: { role: 'assistant', content: PIECE }, done: false })}\n`;

/** Writes without end, as fast as it is read; counts the answers that are still being written. */
function endlessDaemon(): { readonly answer: Answerer; open: number } {
  const daemon = {
    open: 0,
    answer: (_request: unknown, res: ServerResponse): void => {
      daemon.open += 1;
      res.once('close', () => {
        daemon.open -= 1;
      });
      const write = (): void => {
        while (!res.destroyed && res.write(LINE));
      };
      res.writeHead(200, { 'content-type': 'application/x-ndjson' }).on('drain', write);
      write();
    },
  };
  return daemon;
}

function ledgerOf({ workspace }: StartedCore): { readonly usage: object }[] {
  const lines = readFileSync(join(workspace, 'ledger.jsonl'), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line));
}

t.test('an endless answer is cut, kept as far as it fits, and counted as an estimate', async (t) => {
  const daemon = endlessDaemon();
  const one = await startCore(t, { answer: daemon.answer });
  await one.create('ada', RUNNABLE);
  await one.blocks.start('ada');
  const texts: number[] = [];
  one.blocks.follow('ada', { onReply: (step) => void (step.event === 'content' && texts.push(step.text.length)) });
  const answer = await one.ask('ada', 'hi');
  t.match(answer, { status: 'done', stopReason: 'max_tokens', usage: { estimated: true } });
  t.ok((answer.usage?.outputTokens ?? 0) >= MAX_ANSWER_CHARACTERS / 4, 'what came beyond it is paid for as well');
  t.equal(answer.content.length, MAX_ANSWER_CHARACTERS);
  t.ok(answer.content.startsWith(PIECE));
  t.equal(
    texts.reduce((sum, length) => sum + length, 0),
    MAX_ANSWER_CHARACTERS,
    'followers are shown what is kept',
  );
  await until('the provider is left alone', () => daemon.open === 0);
  t.match(ledgerOf(one), [{ usage: answer.usage, failed: undefined }]);
  t.match((await one.blocks.logs('ada'))[0]?.content, /WARN reply\.cut .*characters=1048576/);
  t.match((await one.blocks.history('ada'))[0], { status: 'done', attempts: 1, error: null });
});

t.test('sixteen endless answers at once take less than 256 MiB', async (t) => {
  const daemon = endlessDaemon();
  const names = Array.from({ length: 16 }, (_, index) => `endless-${index}`);
  const one = await startCore(t, { answer: daemon.answer, files: { blocks: runnable(names) } });
  const before = process.memoryUsage().rss;
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 5);
  t.teardown(() => clearInterval(watch));
  for (const name of names) {
    await one.blocks.start(name);
    await one.blocks.post(name, { message: 'hi' }, 'web');
  }
  await until('all are answered', () => one.factsOf('message.finished').length === names.length, 60_000);
  t.ok(one.factsOf('message.finished').every(({ status }) => status === 'done'));
  const grown = Math.round((most - before) / 1024 / 1024);
  t.comment(`grown by ${grown} MiB`);
  t.ok(grown < 256, `it has grown by ${grown} MiB`);
});

t.test('an endless summary is discarded', async (t) => {
  const daemon = endlessDaemon();
  const one = await startCore(t, { answer: daemon.answer });
  await one.create('ada', { ...RUNNABLE, memory: { maxContextTokens: 256, keepMessages: 0 } });
  one.write('ada', 'chat', [...pair('1'), ...pair('2')]);
  await t.rejects(one.blocks.compact('ada'), { code: 'UPSTREAM_MALFORMED', message: /did not finish its summary/ });
  t.match(one.readJson('ada', 'memory'), { summary: '', compactions: [{ outcome: 'failed' }] });
  t.equal(ledgerOf(one).length, 1);
});
