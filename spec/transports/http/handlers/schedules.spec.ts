import t from 'tap';
import { createBlock, RUNNABLE } from '../../../support/block-calls.ts';
import { startServer } from '../../../support/server.ts';

const BRIEF = { id: 'brief', cron: '0 8 * * 1-5', timezone: 'Europe/Berlin', message: 'Write the brief.' };

t.test('schedules are configured, listed, run, paused and resumed', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a', { ...RUNNABLE, schedule: [BRIEF] });
  const listed = await server.call('GET', '/api/blocks/a/schedule');
  t.match(listed, { status: 200, json: { schedules: [{ ...BRIEF, state: 'active', next: [/Z$/, /Z$/, /Z$/], fired: 0 }], held: /stopped/ } });
  t.match(await server.call('POST', '/api/blocks/a/schedule/brief/pause'), { status: 200, json: { success: true, schedule: { state: 'paused', next: [] } } });
  t.match(await server.call('POST', '/api/blocks/a/schedule/brief/resume'), { status: 200, json: { success: true, schedule: { state: 'active' } } });
  const ran = await server.call('POST', '/api/blocks/a/schedule/brief/run');
  t.match(ran, { status: 200, json: { queued: true, block: 'a', id: /^m/ } });
  t.match((await server.call('GET', '/api/blocks/a/chat')).json, {
    messages: [{ id: ran.json['id'], channel: 'schedule', content: BRIEF.message, window: 3 }],
  });
});

t.test('a schedule that is not there, and one that can not be, are errors with their names', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  t.match(await server.call('GET', '/api/blocks/a/schedule'), { status: 200, json: { schedules: [], held: null } });
  for (const action of ['run', 'pause', 'resume'])
    t.match(await server.call('POST', `/api/blocks/a/schedule/x/${action}`), { status: 404, json: { code: 'SCHEDULE_NOT_FOUND' } });
  t.match(await server.call('GET', '/api/blocks/b/schedule'), { status: 404, json: { code: 'BLOCK_NOT_FOUND' } });
  const refused = await server.call('PUT', '/api/blocks/a/config', { body: { schedule: [{ ...BRIEF, cron: '0 0 30 2 *' }] } });
  t.match(refused, { status: 400, json: { code: 'INVALID_REQUEST', error: /^schedule\[0\]\.cron never comes/, details: [{ path: 'schedule[0].cron' }] } });
});

t.test('a client can not say that its message is one of a schedule', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  const sent = await server.call('POST', '/api/blocks/a/chat', { body: { message: 'x' }, headers: { 'x-blockhouse-channel': 'schedule' } });
  t.match(sent, { status: 400 });
  t.match(await server.call('POST', '/api/blocks/a/chat', { body: { message: 'x', window: 0 } }), { status: 400 });
});
