import t from 'tap';
import { openDesk } from '../run.ts';

t.test('a conversation is read later: the newest entries, those since one, and one message with its answer', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama', '--model', 'm', '--start']);
  t.match(await on(['history', 'one']), { code: 0, stdout: '', stderr: 'one has no messages yet.\n' });
  for (const text of ['first\x1b[2J', 'second']) await on(['send', 'one', '--wait', text]);
  const all = await on(['history', 'one']);
  t.match(all, { code: 0, stderr: '' });
  t.match(all.stdout, /^you {2}\S.* {2}m\w+\nfirst\n\none {2}\S.* {2}ollama\/m {2}m\w+\nHello, you\n\nyou .*\nsecond\n\none .*\nHello, you\n$/);
  const { messages } = JSON.parse((await on(['history', 'one', '--json'])).stdout) as { messages: { id: string; content: string }[] };
  t.match(messages, { length: 4, 0: { content: 'first\x1b[2J' } });
  const [first, answer, second] = messages;
  t.match((await on(['history', 'one', '-n', '1'])).stdout, /^one .*\nanswers m\w+\nHello, you\n$/, 'its message is not shown');
  t.match((await on(['history', 'one', '--since', answer?.id ?? ''])).stdout, /^you .*\nsecond\n\none .*\nHello, you\n$/);
  t.same(JSON.parse((await on(['history', 'one', '--since', '1h', '--json'])).stdout), { messages });
  t.same(JSON.parse((await on(['history', 'one', '--since', '2999-01-01', '--json'])).stdout), { messages: [] });
  t.match((await on(['history', 'one', '--id', first?.id ?? ''])).stdout, /^you .*\nfirst\n\none .*\nHello, you\n$/);
  t.match(JSON.parse((await on(['history', 'one', '--id', second?.id ?? '', '--json'])).stdout), {
    entry: { id: second?.id },
    answer: { content: 'Hello, you' },
  });
});

t.test('a message without an answer shows its status, and wrong input is 2', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama', '--model', 'm']);
  const { stdout: id } = await on(['send', 'one', 'hello']);
  const found = await on(['history', 'one', '--id', id.trim()]);
  t.match(found, { code: 0, stdout: /^you {2}\S+ .*queued {2}m\w+\nhello\n$/, stderr: 'It has no answer yet.\n' });
  t.match(await on(['history', 'one', '--since', 'yesterday']), {
    code: 2,
    stderr: /--since must be a time such as 2h or 2026-11-22, or the id of a message of one; yesterday is neither\.\n$/,
  });
  for (const args of [['none'], ['one', '--id', 'none'], ['one', '--since', 'none'], ['one', '-n', '0'], ['one', '-n', '1', '--id', 'x']])
    t.match(await on(['history', ...args]), { code: 2, stdout: '', stderr: /^blockhouse: .*\n$/ });
});
