import t from 'tap';
import { ask, createBlock, RUNNABLE } from '../../../support/block-calls.ts';
import { startServer } from '../../../support/server.ts';

t.test('a fact is remembered until it is removed', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  const added = await server.call('POST', '/api/blocks/a/memory/facts', { body: { text: 'Water boils at 100 °C' } });
  t.match(added, { status: 200, json: { success: true, fact: { id: String, text: 'Water boils at 100 °C', pinned: true } } });
  t.match(await server.call('POST', '/api/blocks/a/memory/facts', { body: { text: 'x', pinned: false } }), { json: { fact: { pinned: false } } });
  const { id } = added.json['fact'] as { id: string };
  t.match((await server.call('GET', '/api/blocks/a')).json, { memory: { facts: [{ id }, { text: 'x' }] } });
  const changed = await server.call('PUT', `/api/blocks/a/memory/facts/${id}`, { body: { pinned: false } });
  t.match(changed, { status: 200, json: { success: true, fact: { id, text: 'Water boils at 100 °C', pinned: false } } });
  t.match(await server.call('PUT', '/api/blocks/a/memory/facts/f0', { body: {} }), { status: 404, json: { code: 'MESSAGE_NOT_FOUND' } });
  t.match(await server.call('PUT', `/api/blocks/a/memory/facts/${id}`, { body: { text: 1 } }), { status: 400, json: { code: 'INVALID_REQUEST' } });
  t.match(await server.call('DELETE', `/api/blocks/a/memory/facts/${id}`), { status: 200, json: { success: true, message: String } });
  t.match(await server.call('DELETE', `/api/blocks/a/memory/facts/${id}`), { status: 404, json: { code: 'MESSAGE_NOT_FOUND' } });
  t.match((await server.call('GET', '/api/blocks/a')).json, { memory: { facts: [{ text: 'x' }] } });
});

t.test('a fact without text is a 400', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  for (const body of [{}, { text: '' }, { text: 1 }, { text: 'x', id: 'mine' }, { text: 'x'.repeat(10_001) }])
    t.match(
      await server.call('POST', '/api/blocks/a/memory/facts', { body }),
      { status: 400, json: { code: 'INVALID_REQUEST' } },
      JSON.stringify(body).slice(0, 40),
    );
});

t.test('a compaction moves the window, and is undone', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a', { ...RUNNABLE, memory: { keepMessages: 0 } });
  t.match(await server.call('POST', '/api/blocks/a/memory/undo'), { status: 409, json: { code: 'WRONG_STATE' } });
  await server.call('POST', '/api/blocks/a/start');
  await ask(server, 'a', 'one');
  await ask(server, 'a', 'two');
  const compacted = await server.call('POST', '/api/blocks/a/memory/compact');
  t.match(compacted, { status: 200, json: { success: true, message: /\d+ messages/, memory: { summary: 'Hello, you', compactionCount: 1 } } });
  t.match(await server.call('POST', '/api/blocks/a/memory/undo'), { status: 200, json: { success: true, memory: { summary: '' } } });
});
