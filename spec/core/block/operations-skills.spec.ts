import t from 'tap';
import { failure } from '../../support/tools/server-rig.ts';
import { skillCore, skillMd } from '../../support/tools/skill-core.ts';
import { startCore } from '../../support/blocks.ts';
import { testFolder } from '../../support/test-folder.ts';

const FILES = { skills: { invoice: { 'SKILL.md': skillMd('invoice') }, report: { 'SKILL.md': skillMd('report') } } };

t.test('all skills are listed, and of one block those that it may have', async (t) => {
  const one = await skillCore(t, { files: FILES, config: {} });
  await one.create('bob', {});
  one.write('blocks/ada/skills/invoice/SKILL.md', skillMd('invoice', 'Of ada.'));
  const names = async (block?: string) => (await one.blocks.skills(block)).map(({ owner, name }) => `${owner}/${name}`);
  t.strictSame(await names(), ['_/invoice', '_/report', 'ada/invoice']);
  t.strictSame(await names('ada'), ['ada/invoice', '_/report']);
  t.strictSame(await names('bob'), ['_/invoice', '_/report']);
  t.match(await failure(one.blocks.skills('carol')), { code: 'BLOCK_NOT_FOUND' });
  t.match(await failure(one.blocks.skill('carol', 'invoice')), { code: 'BLOCK_NOT_FOUND' });
  t.match(await failure(one.blocks.skill('..', 'invoice')), { code: 'BLOCK_NOT_FOUND' });
  t.match(await failure(one.blocks.skill('bob', 'invoice')), { code: 'SKILL_NOT_FOUND' });
});

t.test('an approval is lost with the block: a new one of its name, and an imported one, have none', async (t) => {
  const one = await skillCore(t, { config: {} });
  const skill = 'blocks/ada/skills/invoice/SKILL.md';
  one.write(skill, skillMd('invoice'));
  await one.approve('ada', 'invoice');
  const stateOf = async (block: string) => (await one.blocks.skill(block, 'invoice')).state;
  await one.blocks.rename('ada', { name: 'eve' });
  t.equal(await stateOf('eve'), 'approved', 'with its new name');
  const { archiveName } = await one.blocks.archive('eve');
  await one.blocks.restore(archiveName);
  t.equal(await stateOf('eve'), 'approved', 'back from the archive');
  const again = await one.blocks.archive('eve');
  await one.blocks.restore(again.archiveName, { name: 'fay' });
  t.equal(await stateOf('fay'), 'new', 'under another name');
  await one.create('eve', {});
  one.write('blocks/eve/skills/invoice/SKILL.md', skillMd('invoice'));
  t.equal(await stateOf('eve'), 'new');
});

t.test('an exported block takes its skills along, and the imported one has none of them approved', async (t) => {
  const one = await skillCore(t, { config: { skills: ['*'] } });
  one.write('blocks/ada/skills/invoice/SKILL.md', skillMd('invoice'));
  await one.approve('ada', 'invoice');
  const bundle = await one.blocks.export('ada');
  const imported = await one.blocks.import(bundle, 'bob');
  t.match(imported.warnings, [{ field: 'skills', message: 'Its own skills are not approved, so they are not offered: `blockhouse skills ls bob`' }]);
  t.match(await one.blocks.skills('bob'), [{ owner: 'bob', name: 'invoice', state: 'new' }]);
  t.equal((await one.blocks.skill('ada', 'invoice')).state, 'approved');
});

t.test('a core without a host of tools reads no skills, and says so', async (t) => {
  const { blocks, create } = await startCore(t, { workspace: testFolder(t) });
  t.match(await failure(blocks.skills()), { code: 'WRONG_STATE' });
  t.match(await failure(create('ada', { skills: ['invoice'] }) as Promise<unknown>), { code: 'INVALID_REQUEST', message: /skills.*nothing that reads skills/ });
  await create('bob', {});
  t.match(await failure(blocks.updateConfig('bob', { skills: ['*'] })), { code: 'INVALID_REQUEST' });
  t.match(await failure(blocks.updateConfig('bob', { skills: ['No'] })), { code: 'INVALID_REQUEST', message: /skills\[0\]/ });
});
