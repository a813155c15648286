import t from 'tap';
import { toolDesk as desk } from '../../support/tools/tool-desk.ts';
import { skillMd } from '../../support/tools/skill-core.ts';

t.test('a person who has no skills learns how one is made', async (t) => {
  const { on, workspace } = await desk(t);
  const { code, stdout, stderr } = await on(['skills', 'ls']);
  t.match({ code, stdout }, { code: 0, stdout: '' });
  t.match(stderr, `To make one, write ${workspace}/skills/invoice/SKILL.md:\n  ---\n  name: invoice\n  description: `);
  t.match(stderr, /config set '?<block>'? '?skills=\["invoice"\]/);
});

t.test('skills are listed, read and approved by their names', async (t) => {
  const { on, rig } = await desk(t);
  await on(['new', 'ada']);
  rig.writeSkill('skills/invoice/SKILL.md', skillMd('invoice', 'Bills.\u200b'));
  rig.writeSkill('blocks/ada/skills/report/SKILL.md', skillMd('report'));
  const listed = await on(['skills', 'ls']);
  t.match(listed.stdout, /^SKILL +STATE .*\ninvoice +new +1 +\d+ +Bills\.\\u200b\nada\/report +new +1 /);
  t.match(listed.stderr, /^To read what is not approved: `.* skills diff invoice/);
  t.match(await on(['skills', 'diff', 'invoice']), {
    code: 0,
    stdout: /^invoice is new:\n\nSKILL\.md\n\+ ---\n/,
    stderr: /To offer it as it is now: `.* skills approve invoice/,
  });
  t.match(await on(['skills', 'approve', 'report']), { code: 2, stderr: /The workspace has no skill report\. Did you mean ada\/report\?/ });
  t.match(await on(['skills', 'approve', 'ada/report']), {
    code: 0,
    stderr: /^ada\/report is approved\. To give it to a block: `.* config set ada '?skills=\["report"\]/,
  });
  t.match(await on(['skills', 'approve', 'invoice']), { code: 0, stderr: /config set '?<block>/ });
  t.match(await on(['skills', 'diff', 'invoice']), { code: 0, stdout: '', stderr: /Nothing has changed/ });
  rig.writeSkill('skills/invoice/SKILL.md', skillMd('invoice', 'Bills.'));
  t.match((await on(['skills', 'diff', 'invoice'])).stdout, /\nline 3:\n- description: Bills\.\\u200b\n\+ description: Bills\.\n$/);
  t.match(JSON.parse((await on(['skills', 'diff', 'invoice', '--json'])).stdout), { skill: { state: 'changed', was: {}, now: {} } });
  t.match(JSON.parse((await on(['skills', 'ls', 'ada', '--json'])).stdout), { skills: [{ name: 'report' }, { name: 'invoice' }] });
  const { hash } = await rig.skills.get('_', 'invoice');
  t.match(await on(['skills', 'approve', 'invoice', '--hash', 'f'.repeat(64)]), { code: 2, stderr: /is not the one that was shown/ });
  t.match(await on(['skills', 'approve', 'invoice', '--hash', hash]), { code: 0 });
});

t.test('a skill that can not be used says where and why', async (t) => {
  const { on, rig } = await desk(t);
  rig.writeSkill('skills/invoice/SKILL.md', '---\nname: invoice\ndescription: [a]\n---\n');
  const cure = /skills\/invoice\/SKILL\.md, line 3: description begins with \[, which is no text in YAML; put the text into quotes\./;
  t.match(await on(['skills', 'ls']), { code: 0, stderr: cure });
  t.match(await on(['skills', 'diff', 'invoice']), { code: 0, stdout: cure });
  t.match(await on(['skills', 'approve', 'invoice']), { code: 2, stderr: cure });
  t.match(await on(['skills', 'approve', 'gone']), { code: 2, stderr: /There is no skill "gone"/ });
  t.match(await on(['skills', 'approve', 'a/b/c']), { code: 2, stderr: /give its name, or <block>\/<name>/ });
});
