import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { openDesk } from '../run.ts';

t.test('a value is read by its path, a string as it is', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama', '--model', 'm', '--system', 'Line 1\nLine\x1b[2J 2']);
  t.match(JSON.parse((await on(['config', 'get', 'one'])).stdout), { name: 'one', rev: 1 });
  t.equal((await on(['config', 'get', 'one', 'systemPrompt'])).stdout, 'Line 1\nLine 2\n');
  t.equal((await on(['config', 'get', 'one', 'adapter.model', '--json'])).stdout, '"m"\n');
  t.equal((await on(['config', 'get', 'one', 'memory.keepMessages'])).stdout, '20\n');
  t.match(await on(['config', 'get', 'one', 'adapter.nope']), { code: 2, stdout: '', stderr: /has no field adapter\.nope/ });
});

t.test('a nested value is changed, and the rest of its field stays', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama', '--model', 'm']);
  t.match(await on(['config', 'set', 'one', 'memory.keepMessages=5', 'description=a b', 'tags=["x"]']), { code: 0, stdout: '', stderr: /revision 2/ });
  t.match(JSON.parse((await on(['config', 'get', 'one'])).stdout), { memory: { keepMessages: 5, thresholdPercent: 80 }, description: 'a b', tags: ['x'] });
  const bad = await on(['config', 'set', 'one', 'memory.keepMessages=many', '--json']);
  t.equal(bad.code, 2);
  t.match(JSON.parse(bad.stdout), { code: 'INVALID_REQUEST', details: [{ path: /keepMessages/ }] });
  const key = await on(['config', 'set', 'one', 'adapter.apiKey=sk-canary']);
  t.equal(key.code, 2);
  t.notMatch(key.stderr, 'canary');
  t.match(await on(['config', 'set', 'one', 'no-sign-canary']), { code: 2, stderr: /^blockhouse: Write a change as <path>=<value>, (?!.*canary).*\n$/ });
});

t.test('what the server sets by itself is refused, and so is a field that nobody knows', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'one']);
  t.match(await on(['config', 'set', 'one', 'rev=3', 'description=x']), { code: 2, stderr: /^blockhouse: rev can't be set; only the server changes it\.\n$/ });
  t.equal((await on(['config', 'get', 'one', 'description'])).stdout, '\n');
  for (const [field, meant] of [
    ['systmPrompt', 'systemPrompt'],
    ['memory.keepMesages', 'memory.keepMessages'],
  ] as const) {
    const refused = await on(['config', 'set', 'one', `${field}=5`, 'description=y']);
    t.match(refused, { code: 2, stdout: '', stderr: `blockhouse: There is no field ${field}. Did you mean ${meant}?\n` });
  }
  t.equal((await on(['config', 'get', 'one', 'rev'])).stdout, '1\n', 'nothing was changed');
});

t.test('a field that nobody knows and that is in the file by hand may be changed', async (t) => {
  const { on, workspace } = await openDesk(t);
  await on(['new', 'one']);
  const path = join(workspace, 'blocks', 'one', 'config.json');
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ours: { a: 1 } }));
  t.match(await on(['config', 'set', 'one', 'ours.a=2', 'description=z']), { code: 0 });
});

t.test('the editor: a change is sent, no change is not, and a refused text is kept', async (t) => {
  const { on, workspace } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama', '--model', 'm']);
  const script = join(workspace, 'editor.sh');
  const edit = (commands: string) => {
    writeFileSync(script, `echo "$1" > ${workspace}/place\n${commands}\n`);
    return on(['config', 'edit', 'one'], { env: { EDITOR: `sh ${script}` } });
  };
  const place = (): string => readFileSync(join(workspace, 'place'), 'utf8').trim();
  t.match(await edit(`sed -i 's/"description": ""/"description": "edited"/' "$1"`), { code: 0, stderr: /revision 2/ });
  t.equal((await on(['config', 'get', 'one', 'description'])).stdout, 'edited\n');
  t.notOk(existsSync(place()));
  t.match(await edit('true'), { code: 0, stderr: 'Nothing was changed.\n' });
  const refused = await edit(`sed -i 's/"keepMessages": 20/"keepMessages": "many"/' "$1"`);
  t.match(refused, { code: 2, stderr: /keepMessages.*; your text is kept in .*config\.json\.\n$/ });
  t.match(readFileSync(place(), 'utf8'), /many/);
  rmSync(dirname(place()), { recursive: true });
  t.match(await edit('echo "{" > "$1"'), { code: 2, stderr: /not valid JSON: line \d+.*your text is kept/ });
  rmSync(dirname(place()), { recursive: true });
  t.match(await edit('exit 3'), { code: 1, stderr: /editor ended with 3/ });
  t.notOk(existsSync(place()));
  t.equal((await on(['config', 'get', 'one', 'rev'])).stdout, '2\n');
});

t.test('a change by somebody else while the editor is open is refused, and the text is kept', async (t) => {
  const { on, workspace } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama', '--model', 'm']);
  const script = join(workspace, 'editor.sh');
  const cli = new URL('../../../dist/cli/main.js', import.meta.url).pathname;
  writeFileSync(
    script,
    `${process.execPath} ${cli} config set one description=other --workspace ${workspace} 2>/dev/null\nsed -i 's/"tags": \\[\\]/"tags": ["x"]/' "$1"\necho "$1" > ${workspace}/place\n`,
  );
  t.match(await on(['config', 'edit', 'one'], { env: { EDITOR: `sh ${script}` } }), { code: 2, stderr: /your text is kept in/ });
  rmSync(dirname(readFileSync(join(workspace, 'place'), 'utf8').trim()), { recursive: true });
});
