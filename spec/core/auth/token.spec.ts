import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ApiToken } from '../../../core/auth/token.ts';
import { createBus } from '../../../core/bus.ts';
import { openSettings } from '../../../core/store/open.ts';
import { writeNewToken } from '../../support/new-token.ts';

const FORM = /^bh_[A-Za-z0-9_-]{43}$/;
const GOOD = `bh_${'A'.repeat(43)}`;

/** A token under a clock that the test moves. */
function tokenIn(workspace: string) {
  const bus = createBus();
  const rotations: string[] = [];
  bus.on('token.rotated', ({ file }) => rotations.push(file));
  const clock = { ms: 0 };
  const token = new ApiToken(
    openSettings(workspace, () => clock.ms),
    bus,
  );
  return { token, rotations, later: (ms: number) => (clock.ms += ms) };
}

const tokenPath = (workspace: string) => join(workspace, '.api-token');
const mode = (path: string) => statSync(path).mode & 0o777;

t.test('the first start makes a token of 256 bits that only the owner may read, whatever the umask', async (t) => {
  const workspace = join(t.testdir({}), 'deep', 'workspace');
  const umask = process.umask(0);
  t.teardown(() => process.umask(umask));
  const { token } = tokenIn(workspace);
  t.throws(() => token.reveal(), { message: /does not exist.*--new-token/ });
  await token.ensure();
  t.match(token.reveal(), FORM);
  t.equal(readFileSync(tokenPath(workspace), 'utf8'), `${token.reveal()}\n`);
  t.equal(mode(tokenPath(workspace)), 0o600);
  t.equal(mode(workspace), 0o700);
});

t.test('a later start keeps the token', async (t) => {
  const workspace = t.testdir({ '.api-token': `${GOOD}\n` });
  const { token } = tokenIn(workspace);
  await token.ensure();
  t.equal(token.reveal(), GOOD);
});

t.test('no two tokens are alike', async (t) => {
  const workspace = t.testdir({});
  const tokens = [await writeNewToken(workspace), await writeNewToken(workspace), await writeNewToken(workspace)];
  t.equal(new Set(tokens).size, 3);
});

t.test('only the token itself matches', async (t) => {
  const workspace = t.testdir({ '.api-token': `${GOOD}\n` });
  const { token } = tokenIn(workspace);
  t.ok(token.matches(GOOD));
  const others = [
    '',
    ' ',
    GOOD.slice(1),
    GOOD.slice(0, -1),
    `${GOOD}A`,
    `${GOOD}\n`,
    ` ${GOOD}`,
    GOOD.toLowerCase(),
    `bh_${'A'.repeat(42)}B`,
    'x'.repeat(16_384),
  ];
  for (const other of others) t.notOk(token.matches(other), JSON.stringify(other.slice(0, 50)));
});

t.test('a presented token that is not ASCII is refused and does not throw', async (t) => {
  const { token } = tokenIn(t.testdir({ '.api-token': GOOD }));
  for (const other of ['é', `bh_${'é'.repeat(43)}`, 'Ａ'.repeat(46), `${GOOD.slice(0, -1)}é`, '\ud800'.repeat(46), '\0'.repeat(46)])
    t.notOk(token.matches(other), other);
});

t.test('line ends and blanks around the token do not matter', async (t) => {
  for (const text of [GOOD, `${GOOD}\n`, `${GOOD}\r\n`, ` ${GOOD} \n\n`])
    t.ok(tokenIn(t.testdir({ '.api-token': text })).token.matches(GOOD), JSON.stringify(text));
});

t.test('a file that holds no token lets nobody in, stops a start, and is not overwritten', async (t) => {
  const cases: [string, string][] = [
    ['empty', ''],
    ['only a newline', '\n'],
    ['only CRLF', '\r\n'],
    ['blanks', '   '],
    ['too short', 'bh_abc'],
    ['too long', `${GOOD}A`],
    ['no prefix', 'A'.repeat(46)],
    ['two tokens', `${GOOD}\n${GOOD}`],
    ['a comment', `# token\n${GOOD}`],
    ['10 MB', 'bh_'.padEnd(10 * 1024 * 1024, 'A')],
  ];
  for (const [name, text] of cases) {
    const workspace = t.testdir({ '.api-token': text });
    const { token } = tokenIn(workspace);
    for (const presented of ['', text.slice(0, 100), text.trim().slice(0, 100), GOOD, 'undefined'])
      t.notOk(token.matches(presented), `${name}: ${presented.slice(0, 20)}`);
    t.throws(() => token.reveal(), { message: /\.api-token can't be used: .*--new-token/ }, name);
    await t.rejects(token.ensure(), { message: /can't be used/ }, name);
    t.equal(readFileSync(tokenPath(workspace), 'utf8'), text, name);
  }
});

t.test('a folder or a link to nowhere in its place lets nobody in', async (t) => {
  const workspace = t.testdir({ '.api-token': {} });
  const { token } = tokenIn(workspace);
  t.notOk(token.matches(''));
  await t.rejects(token.ensure(), { message: /not a regular file/ });
});

t.test('the fault of a file names it, never its content', async (t) => {
  const workspace = t.testdir({ '.api-token': 'bh_almost-a-token' });
  const { token } = tokenIn(workspace);
  t.throws(() => token.reveal(), { message: /^(?!.*almost)/ });
});

t.test('a token that others may read is closed to them, at start and while running', async (t) => {
  for (const open of [0o644, 0o660, 0o604, 0o777]) {
    const workspace = t.testdir({ '.api-token': GOOD });
    const path = tokenPath(workspace);
    chmodSync(path, open);
    const { token, later, rotations } = tokenIn(workspace);
    t.ok(token.matches(GOOD));
    t.equal(mode(path), 0o600);
    chmodSync(path, open);
    later(1000);
    t.ok(token.matches(GOOD));
    t.equal(mode(path), 0o600);
    t.same(rotations, []);
  }
});

t.test(
  'a file whose mode can not be repaired is judged by its content, without a throw',
  { skip: process.platform !== 'linux' && 'needs a file that not even root may change' },
  async (t) => {
    const workspace = t.testdir({});
    symlinkSync('/proc/version', tokenPath(workspace));
    const { token } = tokenIn(workspace);
    t.notOk(token.matches(GOOD));
  },
);

t.test('a rotation takes hold within a second: the old token is refused, the new one is let in', async (t) => {
  const workspace = t.testdir({});
  const old = await writeNewToken(workspace);
  const { token, rotations, later } = tokenIn(workspace);
  t.ok(token.matches(old));
  const fresh = await writeNewToken(workspace);
  later(1000);
  t.notOk(token.matches(old));
  t.ok(token.matches(fresh));
  t.same(rotations, [tokenPath(workspace)]);
  t.equal(mode(tokenPath(workspace)), 0o600);
});

t.test('reveal shows a rotated token', async (t) => {
  const workspace = t.testdir({});
  const { token, later } = tokenIn(workspace);
  await writeNewToken(workspace);
  token.reveal();
  const fresh = await writeNewToken(workspace);
  later(1000);
  t.equal(token.reveal(), fresh);
  t.equal(await token.renew(), token.reveal(), 'at once where it was made');
});

t.test('a token that is emptied, removed or replaced by a folder while running shuts everybody out', async (t) => {
  const spoil: [string, (path: string) => void][] = [
    ['emptied', (path) => writeFileSync(path, '')],
    ['removed', (path) => rmSync(path)],
    ['half written', (path) => writeFileSync(path, GOOD.slice(0, 20))],
    [
      'a folder',
      (path) => {
        rmSync(path);
        mkdirSync(path);
      },
    ],
  ];
  for (const [name, change] of spoil) {
    const workspace = t.testdir({ '.api-token': GOOD });
    const { token, rotations, later } = tokenIn(workspace);
    t.ok(token.matches(GOOD));
    change(tokenPath(workspace));
    later(1000);
    t.notOk(token.matches(GOOD), name);
    t.notOk(token.matches(''), name);
    t.equal(rotations.length, 1, `${name} is told once`);
  }
});

t.test('an unreadable token lets nobody in', { skip: process.getuid?.() === 0 && 'root reads every file, whatever its mode' }, async (t) => {
  const workspace = t.testdir({ '.api-token': GOOD });
  chmodSync(tokenPath(workspace), 0);
  t.notOk(tokenIn(workspace).token.matches(GOOD));
});
