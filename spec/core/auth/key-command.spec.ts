// Keys that programs print. How calls use them: spec/cases/named-connections.spec.ts.
import t from 'tap';
import { parseEntry } from '../../../core/auth/entry.ts';
import { KeyCommands, printedKeys } from '../../../core/auth/key-command.ts';

const entryOf = (code: string, ...more: readonly string[]) =>
  parseEntry('gpu', { adapter: 'openai', keyCommand: [process.execPath, '-e', code, ...more], keyTtlSeconds: 1 });

t.test('a key is printed once for all that wait for it, and again when its time has passed', async (t) => {
  let now = 0;
  const commands = new KeyCommands(() => now);
  const entry = entryOf("console.log('key-' + process.hrtime.bigint())");
  t.equal(commands.known(entry), undefined);
  t.strictSame(printedKeys(entry), []);
  await Promise.all([commands.ready('gpu', entry), commands.ready('gpu', entry)]);
  const first = commands.known(entry) ?? '';
  t.match(first, /^key-\d+$/);
  t.strictSame(printedKeys(entry), [first]);
  t.equal(commands.ready('gpu', entry), undefined);
  now = 1000;
  t.equal(commands.known(entry), undefined);
  await commands.ready('gpu', entry);
  t.strictSame(printedKeys(entry), [commands.known(entry), first], 'what a call may still be under way with is known');
  for (let run = 0; run < 8; run += 1) {
    now += 1000;
    await commands.ready('gpu', entry);
  }
  t.equal(printedKeys(entry).length, 8);
  t.notOk(printedKeys(entry).includes(first));
});

t.test('a refused key is printed again, once in ten seconds at most', async (t) => {
  let now = 60_000;
  const commands = new KeyCommands(() => now);
  const entry = parseEntry('gpu', { adapter: 'openai', keyCommand: [process.execPath, '-e', "console.log('a-key-that-stays')"] });
  await commands.ready('gpu', entry);
  commands.refused(entry);
  t.equal(commands.known(entry), undefined);
  t.strictSame(printedKeys(entry), ['a-key-that-stays']);
  await commands.ready('gpu', entry);
  t.strictSame(printedKeys(entry), ['a-key-that-stays']);
  commands.refused(entry);
  t.equal(commands.known(entry), 'a-key-that-stays');
  now += 10_000;
  commands.refused(entry);
  t.equal(commands.known(entry), undefined);
});

t.test('a program that fails is not run again for a second, and nothing that it prints is repeated', async (t) => {
  let now = 0;
  const commands = new KeyCommands(() => now);
  for (const code of ["console.error('canary'); process.exit(3)", "console.log('')", "console.log('canary'.repeat(4000))", "console.log('can ary')"]) {
    const entry = entryOf(code);
    await t.rejects(
      async () => commands.ready('gpu', entry),
      { code: 'ADAPTER_NOT_CONFIGURED', message: /^The keyCommand of gpu in auth\.json (?!.*canary)/ },
      code,
    );
    await t.rejects(async () => commands.ready('gpu', entry), { code: 'ADAPTER_NOT_CONFIGURED' });
    t.strictSame(printedKeys(entry), []);
    now += 1000;
  }
  await t.rejects(async () => commands.ready('gpu', parseEntry('gpu', { adapter: 'openai', keyCommand: ['/nowhere/at/all'] })), {
    message: /could not be run \(ENOENT\)/,
  });
  t.equal(commands.ready('gpu', undefined), undefined);
});
