// What of the folders is offered: what a person has approved, as it lies there now.
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { Pins } from '../../../../adapters/tools/pins.ts';
import { SkillBook } from '../../../../adapters/tools/skills/skill-book.ts';
import { skillPin, skillPinsOf } from '../../../../adapters/tools/skills/skill-pins.ts';
import { openSettings } from '../../../../core/index.ts';
import { failure } from '../../../support/tools/server-rig.ts';
import { skillMd } from '../../../support/tools/skill-core.ts';

const CLOCK = () => Date.parse('2026-11-28T12:00:00.000Z');
const OWNERS = ['ada', '_'];

function rig(t: Test, files: Readonly<Record<string, string>> = { 'skills/invoice/SKILL.md': skillMd('invoice') }) {
  const workspace = t.testdir({});
  let now = 0;
  const open = () => {
    const pins = new Pins(
      openSettings(workspace, () => (now += 1000)),
      CLOCK,
    );
    return { pins, book: new SkillBook(workspace, pins, CLOCK) };
  };
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(workspace, path)), { recursive: true });
    writeFileSync(join(workspace, path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  const { book, pins } = open();
  const approve = async (owner: string, name: string) => book.approve(owner, name, { hash: (await book.get(owner, name)).hash }, 'cli');
  const stateOf = async (owner: string, name: string) => (await book.get(owner, name)).state;
  return { workspace, book, pins, open, write, approve, stateOf, path: (file: string) => join(workspace, file) };
}

t.test('a skill is offered once it is approved, and not after a byte of any file has changed', async (t) => {
  const { book, approve, write, open, path } = rig(t, { 'skills/invoice/SKILL.md': skillMd('invoice'), 'skills/invoice/terms.md': 'Terms.' });
  t.strictSame(await book.offered(OWNERS, ['invoice']), {
    skills: [],
    problems: ['The skill invoice is new and not offered (`blockhouse skills diff invoice`)'],
  });
  t.match(await approve('_', 'invoice'), { state: 'approved', approvedAt: '2026-11-28T12:00:00.000Z', approvedBy: 'cli', files: ['SKILL.md', 'terms.md'] });
  const { skills, problems } = await book.offered(OWNERS, ['*']);
  t.match([skills, problems], [[{ name: 'invoice', description: 'How to do invoice.' }], []]);
  t.equal(statSync(path('mcp-pins.json')).mode & 0o777, 0o600);
  t.match((await book.read(OWNERS, 'invoice'))?.files.get('terms.md'), 'Terms.');
  t.match(await open().book.offered(OWNERS, ['invoice']), { skills: [{}] }, 'also after a restart');
  write('skills/invoice/terms.md', 'Terms,');
  t.match(await book.offered(OWNERS, ['invoice']), {
    skills: [],
    problems: ['The skill invoice changed and is not offered (`blockhouse skills diff invoice`)'],
  });
  t.equal(await book.read(OWNERS, 'invoice'), undefined);
  t.match(await book.get('_', 'invoice'), { state: 'changed', now: { 'terms.md': 'Terms,' }, was: { 'terms.md': 'Terms.' } });
  write('skills/invoice/terms.md', 'Terms.');
  t.match(await book.offered(OWNERS, ['invoice']), { skills: [{}] }, 'what is as it was approved is approved');
});

t.test('an approval holds for what was shown', async (t) => {
  const { book, write } = rig(t);
  const { hash } = await book.get('_', 'invoice');
  write('skills/invoice/SKILL.md', skillMd('invoice', 'Other.'));
  t.match(await failure(book.approve('_', 'invoice', { hash }, 'web')), { code: 'TOOL_CHANGED', message: /Read it again: `blockhouse skills diff invoice`/ });
  t.match(await failure(book.approve('_', 'invoice', { hash: 'x' }, 'web')), { code: 'INVALID_REQUEST' });
  t.match(await failure(book.approve('_', 'other', { hash }, 'web')), { code: 'SKILL_NOT_FOUND', message: /no skill "other" of the workspace/ });
  write('skills/invoice/SKILL.md', 'x');
  t.match(await failure(book.approve('_', 'invoice', { hash }, 'web')), { code: 'TOOL_CHANGED', message: /can't be used: skills\/invoice\/SKILL\.md, line 1/ });
  for (const name of ['..', '.', 'a/b', '../auth.json', '']) t.match(await failure(book.get('_', name)), { code: 'SKILL_NOT_FOUND' }, name);
  t.match(await failure(book.get('../skills', 'invoice')), { code: 'SKILL_NOT_FOUND', message: /Skills belong to a block/ });
});

t.test('the skill of a block goes before that of the workspace, also while it is not approved', async (t) => {
  const { book, approve, write } = rig(t);
  await approve('_', 'invoice');
  write('blocks/ada/skills/invoice/SKILL.md', skillMd('invoice', 'Of ada.'));
  t.match(await book.offered(OWNERS, ['*']), { skills: [], problems: ['The skill ada/invoice is new and not offered (`blockhouse skills diff ada/invoice`)'] });
  await approve('ada', 'invoice');
  t.match(await book.offered(OWNERS, ['*']), { skills: [{ description: 'Of ada.' }], problems: [] });
  t.match(await book.offered(['bob', '_'], ['*']), { skills: [{ description: 'How to do invoice.' }] });
});

t.test('approvals go along with the name of a block, and end with it', async (t) => {
  const { workspace, book, approve, write, stateOf } = rig(t, { 'blocks/ada/skills/invoice/SKILL.md': skillMd('invoice') });
  await approve('ada', 'invoice');
  renameSync(join(workspace, 'blocks/ada'), join(workspace, 'blocks/bob'));
  await book.rename('ada', 'bob');
  t.equal(await stateOf('bob', 'invoice'), 'approved');
  await book.rename('ada', 'bob', true);
  t.equal(await stateOf('bob', 'invoice'), 'approved', 'a rename that is resumed may have moved them already');
  await book.rename('nobody', 'bob');
  t.equal(await stateOf('bob', 'invoice'), 'new', 'a block without approvals takes none over');
  await approve('bob', 'invoice');
  await book.forget('bob');
  t.equal(await stateOf('bob', 'invoice'), 'new');
  const before = statSync(join(workspace, 'mcp-pins.json')).ino;
  await book.forget('bob');
  t.equal(statSync(join(workspace, 'mcp-pins.json')).ino, before, 'nothing is written for nothing');
  write('mcp-pins.json', '{');
  await book.forget('carol');
  t.match(await failure(approve('bob', 'invoice')), { code: 'WORKSPACE_DAMAGED' });
});

t.test('what is gone is forgotten with the next approval, and servers stay', async (t) => {
  const { workspace, book, pins, approve, write } = rig(t, { 'skills/a/SKILL.md': skillMd('a'), 'skills/b/SKILL.md': skillMd('b') });
  await pins.approve('files', 'f'.repeat(64), {}, 'cli');
  await approve('_', 'a');
  rmSync(join(workspace, 'skills/a'), { recursive: true });
  await approve('_', 'b');
  const file = JSON.parse(readFileSync(join(workspace, 'mcp-pins.json'), 'utf8'));
  t.match(file, { servers: { files: { definition: 'f'.repeat(64) } }, skills: { _: { b: { files: { 'SKILL.md': skillMd('b') } } } } });
  t.strictSame(Object.keys(file.skills._), ['b']);
  write('skills/constructor/SKILL.md', skillMd('constructor'));
  t.equal((await book.get('_', 'constructor')).state, 'new', 'a name that objects have');
});

t.test('a skill that is named and not there, and what can not be used, are said with their cure', async (t) => {
  const { book, write } = rig(t, {});
  t.match((await book.offered(OWNERS, ['invoice'])).problems, [
    'There is no skill invoice: make blocks/ada/skills/invoice/SKILL.md or skills/invoice/SKILL.md',
  ]);
  write('skills/invoice/SKILL.md', '---\nname: invoice\n---\n');
  write('blocks/ada/skills/Loud/SKILL.md', 'x');
  t.match((await book.offered(OWNERS, ['*'])).problems, [
    /^blocks\/ada\/skills\/Loud is no name for a skill/,
    /^skills\/invoice\/SKILL\.md, line 1: description is missing/,
  ]);
  t.match(await book.list(['_', 'ada']), [
    { owner: '_', name: 'invoice', state: 'unusable', problem: /^skills\/invoice\/SKILL\.md, line 1: .*\.$/ },
    { owner: 'ada', name: 'Loud', state: 'unusable' },
  ]);
  t.match(await book.findings({ blocks: true }), [
    { severity: 'warning', place: 'skills/invoice', problem: /SKILL\.md, line 1: description is missing/ },
    { severity: 'warning', place: 'blocks/ada/skills/Loud' },
  ]);
  t.equal((await book.findings({ blocks: false })).length, 1);
});

t.test('the doctor names what is not approved, and nothing else', async (t) => {
  const { book, approve, write } = rig(t);
  t.match(await book.findings({ blocks: true }), [{ place: 'skills/invoice', problem: /^it is new/, fix: /skills diff invoice/ }]);
  await approve('_', 'invoice');
  t.strictSame(await book.findings({ blocks: true }), []);
  write('skills/invoice/SKILL.md', skillMd('invoice', 'Other.'));
  t.match(await book.findings({ blocks: true }), [{ problem: /^it is changed/ }]);
});

t.test('own-hash: a pin that was edited by hand approves nothing', async (t) => {
  const pin = skillPin('0'.repeat(64), new Map([['SKILL.md', 'x']]), 'then', 'cli');
  t.strictSame(skillPinsOf({ _: { invoice: pin } }), {});
  t.strictSame(skillPinsOf({ _: { invoice: { ...pin, files: { 'SKILL.md': 5 } } } }), {});
  t.strictSame(skillPinsOf({ _: { invoice: 'x' }, ada: 5 }), {});
  t.strictSame(skillPinsOf('x'), {});
  const long = skillPin('0'.repeat(64), new Map([['SKILL.md', 'x'.repeat(300_000)]]), 'then', 'cli');
  t.equal(long.files, undefined, 'a long text is not kept');
  t.match(skillPinsOf({ _: { invoice: long } }), { _: { invoice: { hash: '0'.repeat(64) } } });
});
