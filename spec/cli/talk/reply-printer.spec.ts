import { PassThrough } from 'node:stream';
import t from 'tap';
import type { Outcome } from '../../../cli/talk/conversation.ts';
import { ReplyPrinter } from '../../../cli/talk/reply-printer.ts';
import type { ReplyStep } from '../../../core/index.ts';

const start: ReplyStep = { id: 'm', seq: 1, event: 'start', provider: 'p', model: 'x', attempt: 1 };
const content = (text: string): ReplyStep => ({ id: 'm', seq: 2, event: 'content', text });
const fault = (willRetry: boolean): ReplyStep => ({ id: 'm', seq: 3, event: 'error', code: 'UPSTREAM_FAILED', error: 'over\x1b[1mloaded', willRetry });
const outcome = (answer: object | undefined): Outcome => ({ message: {}, answer }) as Outcome;

async function shown(steps: readonly ReplyStep[], answer: object | undefined): Promise<{ stdout: string; said: string[] }> {
  const stdout = new PassThrough();
  const said: string[] = [];
  const printer = new ReplyPrinter(stdout, async (text) => void said.push(text));
  for (const step of steps) await printer.step(step);
  await printer.finish(outcome(answer));
  await printer.end();
  return { stdout: String(stdout.read() ?? ''), said };
}

t.test('the text is shown as it comes, once, with one newline at its end', async (t) => {
  t.same(await shown([start, content('Hel'), content('lo')], { content: 'Hello', status: 'done', stopReason: 'end_turn' }), { stdout: 'Hello\n', said: [] });
});

t.test('what never came is added from the answer', async (t) => {
  t.same(await shown([], { content: 'Hello', status: 'done' }), { stdout: 'Hello\n', said: [] });
  t.same(await shown([start, content('Hel')], { content: 'Hello\n', status: 'done' }), { stdout: 'Hello\n', said: [] });
});

t.test('a failed attempt is set apart from the answer', async (t) => {
  const { stdout, said } = await shown([start, content('Half'), fault(true), start, content('Whole')], { content: 'Whole', status: 'done' });
  t.equal(stdout, 'Half\nWhole\n');
  t.same(said, ['note: this attempt failed and will be retried: overloaded', 'note: ignore the text above; the answer starts again.']);
});

t.test('a message that waits for a person has not failed', async (t) => {
  const waits: ReplyStep = { id: 'm', seq: 3, event: 'error', code: 'CANCELLED', error: 'A call waits for a decision.', willRetry: true };
  t.same((await shown([start, content('I write.'), waits], undefined)).said, ['note: A call waits for a decision.']);
});

t.test('a text that differs from the answer is followed by the answer', async (t) => {
  t.equal((await shown([start, content('Old')], { content: 'New', status: 'done' })).stdout, 'Old\nNew\n');
});

t.test('how it ended is told, and an end without an answer keeps the line', async (t) => {
  t.same((await shown([start, content('Ha')], { content: 'Ha', status: 'interrupted' })).said, ['note: the answer was interrupted.']);
  t.same((await shown([], { content: 'x', status: 'done', stopReason: 'max_tokens' })).said, ['note: the answer ended with max_tokens.']);
  t.same(await shown([start, content('Half'), fault(false)], undefined), { stdout: 'Half\n', said: [] });
});

t.test('escape sequences never come through, also when they are split', async (t) => {
  t.equal((await shown([start, content('a\x1b'), content('[31mb')], { content: 'a\x1b[31mb', status: 'done' })).stdout, 'ab\n');
});
