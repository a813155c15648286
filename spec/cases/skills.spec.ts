// Cases of skills, as facts: what of their folders reaches a model, and what does not.
import { renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { skillCore, skillMd } from '../support/tools/skill-core.ts';

t.setTimeout(120_000);

const INVOICE = { skills: { invoice: { 'SKILL.md': skillMd('invoice') } } };
const namesIn = ({ tools = [] }: { readonly tools?: readonly { function: { name: string } }[] } = {}): string[] => tools.map(({ function: { name } }) => name);

t.test('43: a skill changed by a byte is not offered, a link is not read', async (t) => {
  const one = await skillCore(t, { files: INVOICE });
  await one.approve('_', 'invoice');
  await one.ask('Write an invoice.');
  t.strictSame(namesIn(one.prompts()[0]), ['block__read_skill']);
  t.match(one.prompts()[0]?.messages[0]?.content, '- invoice: How to do invoice.');
  t.equal(await one.answer(), 'Read: From a skill of the user.\nThe text of invoice.');

  one.write('skills/invoice/SKILL.md', `${skillMd('invoice')} `);
  await one.ask('Write another.');
  t.strictSame(namesIn(one.prompts().at(-1)), [], 'one blank more');
  t.notMatch(JSON.stringify(one.prompts().at(-1)?.messages[0]), 'How to do invoice');
  t.match((await one.blocks.explain('ada')).notes, ['the skill invoice changed and is not offered (`blockhouse skills diff invoice`).']);

  rmSync(join(one.workspace, 'skills/invoice/SKILL.md'));
  one.write('elsewhere/SKILL.md', skillMd('invoice'));
  symlinkSync(join(one.workspace, 'elsewhere/SKILL.md'), join(one.workspace, 'skills/invoice/SKILL.md'));
  t.match(await one.blocks.skills(), [{ name: 'invoice', state: 'unusable', problem: /skills\/invoice has SKILL\.md, which is a link or no plain file/ }]);
  renameSync(join(one.workspace, 'skills/invoice'), join(one.workspace, 'old'));
  symlinkSync(join(one.workspace, 'elsewhere'), join(one.workspace, 'skills/invoice'));
  t.match(await one.blocks.skills(), [{ name: 'invoice', state: 'unusable', problem: /skills\/invoice is a link, and links are not read/ }]);
  await one.ask('And another.');
  t.strictSame(namesIn(one.prompts().at(-1)), [], 'although the text is the approved one');
});
