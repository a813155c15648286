import t from 'tap';
import { startManagedServer } from '../../../support/tools/managed-server.ts';
import { skillMd } from '../../../support/tools/skill-core.ts';

t.test('skills are listed, shown and approved by the hash that was shown', async (t) => {
  const { call, rig } = await startManagedServer(t);
  t.match(await call('GET', '/api/skills'), { status: 200, json: { skills: [] } });
  await call('POST', '/api/blocks', { body: { name: 'ada' } });
  rig.writeSkill('skills/invoice/SKILL.md', skillMd('invoice'));
  rig.writeSkill('blocks/ada/skills/report/SKILL.md', skillMd('report'));
  const listed = await call('GET', '/api/skills');
  t.match(listed.json, {
    skills: [
      { owner: '_', name: 'invoice', state: 'new' },
      { owner: 'ada', name: 'report' },
    ],
  });
  t.notMatch(JSON.stringify(listed.json), 'The text of');
  t.match((await call('GET', '/api/skills?block=ada')).json, { skills: [{ name: 'report' }, { name: 'invoice' }] });
  const shown = await call('GET', '/api/skills/_/invoice');
  t.match(shown, { status: 200, json: { skill: { now: { 'SKILL.md': skillMd('invoice') } } } });
  const { hash } = shown.json['skill'] as { hash: string };
  const approved = await call('POST', '/api/skills/_/invoice/approve', { body: { hash }, headers: { 'x-blockhouse-channel': 'cli' } });
  t.match(approved, { status: 200, json: { success: true, skill: { state: 'approved', approvedBy: 'cli' } } });
  t.match(rig.read('mcp-pins.json'), { skills: { _: { invoice: { hash } } } });
  rig.writeSkill('skills/invoice/SKILL.md', skillMd('invoice', 'Other.'));
  t.match(await call('POST', '/api/skills/_/invoice/approve', { body: { hash } }), { status: 409, json: { code: 'TOOL_CHANGED' } });
});

t.test('each refusal has its code', async (t) => {
  const { call, rig } = await startManagedServer(t);
  const hash = 'f'.repeat(64);
  const status = async (method: string, path: string, body?: unknown) => {
    const { status, json } = await call(method, path, body === undefined ? {} : { body });
    return `${status} ${String(json['code'])}`;
  };
  t.equal(await status('GET', '/api/skills?block=nobody'), '404 BLOCK_NOT_FOUND');
  t.equal(await status('GET', '/api/skills?block=a&block=b'), '400 INVALID_REQUEST');
  t.equal(await status('GET', '/api/skills/_/gone'), '404 SKILL_NOT_FOUND');
  t.equal(await status('GET', '/api/skills/_/..%2F..%2Fauth.json'), '404 SKILL_NOT_FOUND');
  t.equal(await status('GET', '/api/skills/..%2F/gone'), '404 BLOCK_NOT_FOUND');
  t.equal(await status('POST', '/api/skills/_/gone/approve', { hash }), '404 SKILL_NOT_FOUND');
  t.equal(await status('POST', '/api/skills/nobody/gone/approve', { hash }), '404 BLOCK_NOT_FOUND');
  rig.writeSkill('skills/invoice/SKILL.md', skillMd('invoice'));
  t.equal(await status('POST', '/api/skills/_/invoice/approve', { hash: 'x' }), '400 INVALID_REQUEST');
  t.equal(await status('POST', '/api/skills/_/invoice/approve', { hash, more: 1 }), '400 INVALID_REQUEST');
  t.equal(await status('POST', '/api/skills/_/invoice/approve', { hash }), '409 TOOL_CHANGED');
});

t.test('nobody but the owner approves: not without the token, not with a key of an application', async (t) => {
  const { call, rig } = await startManagedServer(t);
  const { key } = (await call('POST', '/api/keys', { body: { name: 'app', rights: ['blocks'] } })).json as { key: string };
  rig.writeSkill('skills/invoice/SKILL.md', skillMd('invoice'));
  const { hash } = await rig.skills.get('_', 'invoice');
  for (const [method, path] of [
    ['GET', '/api/skills'],
    ['GET', '/api/skills/_/invoice'],
    ['POST', '/api/skills/_/invoice/approve'],
  ] as const) {
    for (const authorization of [undefined, `Bearer ${key}`]) {
      const { status } = await call(method, path, { ...(method === 'POST' && { body: { hash } }), headers: { authorization: authorization ?? '' } });
      t.ok([401, 403].includes(status), `${method} ${path} ${status}`);
    }
  }
  t.equal((await rig.skills.get('_', 'invoice')).state, 'new');
});
