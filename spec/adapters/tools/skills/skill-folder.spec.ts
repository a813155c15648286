// What lies in a folder of skills may be anything: nothing of it holds the reading up, and nothing outside of it is read.
import { execFileSync } from 'node:child_process';
import fs, { chmodSync, linkSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { readSkillFolder, skillNames } from '../../../../adapters/tools/skills/skill-folder.ts';
import { skillMd } from '../../../support/tools/skill-core.ts';

const SKILL = skillMd('invoice');

function rig(t: Test, files: Readonly<Record<string, string | Uint8Array>> = { 'SKILL.md': SKILL }) {
  const workspace = t.testdir({ skills: { invoice: {} }, outside: { 'secret.md': 'hunter2' } });
  const at = (path: string): string => join(workspace, 'skills/invoice', path);
  const write = (path: string, text: string | Uint8Array): void => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  const root = { workspace, way: ['skills'] };
  return { workspace, at, write, root, read: () => readSkillFolder(root, 'invoice'), problem: () => readSkillFolder(root, 'invoice')?.problem };
}

t.test('a skill is all its files by their paths, and its hash is of all of them', async (t) => {
  const { read, write, root } = rig(t, { 'SKILL.md': SKILL, 'references/terms.md': 'Terms.', '.DS_Store': new Uint8Array([0, 255]) });
  const first = read();
  t.match(first, { name: 'invoice', description: 'How to do invoice.', body: 'The text of invoice.', hash: /^[0-9a-f]{64}$/, problem: undefined });
  t.strictSame([...(first?.files.keys() ?? [])], ['SKILL.md', 'references/terms.md']);
  write('references/terms.md', 'Terms,');
  const second = read();
  t.not(second?.hash, first?.hash, 'of each file');
  write('references/terms.md', 'Terms.');
  t.equal(read()?.hash, first?.hash);
  renameSync(join(root.workspace, 'skills/invoice/references/terms.md'), join(root.workspace, 'skills/invoice/references/other.md'));
  t.not(read()?.hash, first?.hash, 'of each path');
  t.equal(readSkillFolder(root, 'gone'), undefined);
});

t.test('no link is read: not a file, not a folder, not the folder of skills, and no second name of a file', async (t) => {
  const cases: [make: (r: ReturnType<typeof rig>) => void, problem: RegExp][] = [
    [
      ({ workspace, at }) => symlinkSync(join(workspace, 'outside/secret.md'), at('more.md')),
      /^skills\/invoice has more\.md, which is a link or no plain file/,
    ],
    [({ workspace, at }) => symlinkSync(join(workspace, 'outside'), at('more')), /^skills\/invoice has more, which is a link/],
    [
      ({ workspace, at }) => linkSync(join(workspace, 'outside/secret.md'), at('more.md')),
      /has more\.md, which is another name of a file elsewhere \(a hard link\)/,
    ],
    [
      ({ workspace }) => {
        renameSync(join(workspace, 'skills'), join(workspace, 'real'));
        symlinkSync(join(workspace, 'real'), join(workspace, 'skills'));
      },
      /^skills\/invoice lies in skills, which is a link, and links are not read; put a folder there$/,
    ],
  ];
  for (const [make, problem] of cases) {
    await t.test(String(problem), async (t) => {
      const one = rig(t);
      make(one);
      t.match(one.problem(), problem);
      t.equal(one.read()?.hash, '');
    });
  }
});

/** Does something each time just before a file is opened, and just after. */
function aroundOpen(t: Test, before: () => void, after: () => void): void {
  const { openSync } = fs;
  const put = (open: typeof openSync): void => {
    fs.openSync = open;
    syncBuiltinESMExports();
  };
  t.teardown(() => put(openSync));
  put((...given) => {
    before();
    try {
      return openSync(...given);
    } finally {
      after();
    }
  });
}

t.test('no-links: a folder that is exchanged for a link in the moment of reading is not read through it', async (t) => {
  const cases: [title: string, stays: boolean, problem: RegExp][] = [
    ['and put back', false, /^skills\/invoice has SKILL\.md, which was replaced while it was read; try again$/],
    ['and left there', true, /^skills\/invoice is a link, and links are not read/],
  ];
  for (const [title, stays, problem] of cases) {
    await t.test(title, async (t) => {
      const { workspace, read } = rig(t);
      writeFileSync(join(workspace, 'outside/SKILL.md'), skillMd('invoice', 'Secret.'));
      const [own, kept, link] = ['skills/invoice', 'kept', 'link'].map((path) => join(workspace, path)) as [string, string, string];
      symlinkSync(join(workspace, 'outside'), link);
      const exchange = (): void => {
        renameSync(own, kept);
        renameSync(link, own);
      };
      const back = (): void => {
        renameSync(own, link);
        renameSync(kept, own);
      };
      aroundOpen(t, exchange, stays ? () => undefined : back);
      t.match(read(), { problem, hash: '', description: '', files: new Map() });
    });
  }
});

t.test('a pipe, a device, and a file that nobody may read do not hold it up', async (t) => {
  const { at, problem, write } = rig(t);
  execFileSync('mkfifo', [at('pipe.md')]);
  t.match(problem(), /has pipe\.md, which is a link or no plain file/);
  const other = rig(t, {});
  execFileSync('mkfifo', [other.at('SKILL.md')]);
  t.match(other.problem(), /has SKILL\.md, which is a link or no plain file/);
  write('x', '');
  if (process.getuid?.() !== 0) {
    const third = rig(t);
    chmodSync(third.at('SKILL.md'), 0);
    t.match(third.problem(), /^skills\/invoice can't be read \(EACCES\); make it readable$/);
  }
});

t.test('what is no text, too large or too much is named', async (t) => {
  const cases: [files: Record<string, string | Uint8Array>, problem: RegExp][] = [
    [{ 'SKILL.md': SKILL, 'logo.png': new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0xff]) }, /has logo\.png, which is no text in UTF-8/],
    [{ 'SKILL.md': SKILL, 'a.bin': 'a\0b' }, /has a\.bin, which has control characters and so is no text/],
    [{ 'SKILL.md': SKILL, 'long.md': 'x'.repeat(65_537) }, /has long\.md with 65537 bytes; shorten it to 65536/],
    [{ 'SKILL.md': SKILL, ...Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`${index}.md`, ''])) }, /has more than 20 files/],
    [{ 'SKILL.md': SKILL, 'a/b/c/d/e/f.md': '' }, /nest deeper than 4/],
    [{ 'SKILL.md': SKILL, 'skill.md': SKILL }, /has two files skill\.md that differ in case only/],
    [{ 'skill.md': SKILL }, /^skills\/invoice has no SKILL\.md; add one, or remove the folder$/],
    [{ 'SKILL.md': SKILL, 'a\u0007b.md': '' }, /has a file whose name is no plain text/],
    [{ 'SKILL.md': 'x' }, /^skills\/invoice\/SKILL\.md, line 1: there is no front matter/],
  ];
  for (const [files, problem] of cases) await t.test(String(problem), async (t) => t.match(rig(t, files).problem(), problem));
  t.equal(rig(t, { 'SKILL.md': SKILL, 'long.md': 'x'.repeat(65_536) }).problem(), undefined);
});

t.test('a folder with very many files is left after the first of them', async (t) => {
  const { write, problem, root } = rig(t);
  for (let index = 0; index < 1200; index += 1) write(`.hidden-${index}`, '');
  t.match(problem(), /has more than 1000 entries/);
  for (let index = 0; index < 201; index += 1) mkdirSync(join(root.workspace, `skills/s-${index}`));
  t.match(skillNames(root), { names: [], problem: /^skills has more than 200 folders; remove some$/ });
});

t.test('names of skills are those of folders, and one that is no name is said', async (t) => {
  const { root } = rig(t);
  mkdirSync(join(root.workspace, 'skills/Invoice'));
  writeFileSync(join(root.workspace, 'skills/README.md'), '');
  mkdirSync(join(root.workspace, 'skills/.git'));
  t.strictSame(skillNames(root), { names: ['Invoice', 'invoice'] });
  t.match(
    readSkillFolder(root, 'Invoice')?.problem,
    /^skills\/Invoice is no name for a skill: it must be 1 to 64 characters from a-z, 0-9 and -; rename the folder$/,
  );
  t.strictSame(skillNames({ ...root, way: ['nowhere'] }), { names: [] });
  symlinkSync(join(root.workspace, 'skills'), join(root.workspace, 'linked'));
  t.match(skillNames({ ...root, way: ['linked'] }), { problem: /^linked is a link/ });
});
