import t, { type Test } from 'tap';
import { createBlock, historyOf, RUNNABLE } from '../../../support/block-calls.ts';
import { type HeldDaemon, heldDaemon } from '../../../support/held-daemon.ts';
import { callMcp, connectMcp, ERAS } from '../../../support/mcp-clients.ts';
import { startServer, type TestServer, type TestServerOptions } from '../../../support/server.ts';

/** A server with the running block ada. */
async function serve(t: Test, options: TestServerOptions = {}): Promise<{ server: TestServer; daemon: HeldDaemon }> {
  let isOver = false;
  const daemon = heldDaemon((call) => isOver && call.cut());
  const server = await startServer(t, { answer: daemon.answer, retries: 0, ...options });
  t.teardown(() => {
    isOver = true;
    for (const call of daemon.calls) call.cut(); // a reply under way would hold up the end
  });
  await createBlock(server, 'ada', { ...RUNNABLE, description: 'Knows the stock.', retry: { baseMs: 1, maxDelayMs: 1, maxAttempts: 1 } });
  await server.call('POST', '/api/blocks/ada/start');
  return { server, daemon };
}

for (const era of ERAS)
  t.test(`${era}: the official client lists, sends, waits and reads`, async (t) => {
    const { server, daemon } = await serve(t);
    const client = await connectMcp(t, server, era);
    t.equal(client.getServerVersion()?.name, 'blockhouse');
    const { tools } = await client.listTools();
    t.same(
      tools.map(({ name }) => name),
      ['list_blocks', 'send_message', 'read_answer', 'read_chat', 'why'],
    );
    t.match(await callMcp(client, 'list_blocks'), {
      structuredContent: { blocks: [{ name: 'ada', description: 'Knows the stock.', status: String, queue: 0 }], more: false },
    });
    const sending = callMcp(client, 'send_message', { block: 'ada', message: 'How many chairs?', waitSeconds: 50 });
    (await daemon.call(0)).answer('Twelve.');
    const sent = await sending;
    t.match(sent, { content: [{ type: 'text', text: 'Twelve.' }], structuredContent: { status: 'done', answer: 'Twelve.' }, isError: false });
    const messageId = sent.structuredContent?.['messageId'];
    t.match(await callMcp(client, 'read_answer', { block: 'ada', messageId, waitSeconds: 0 }), { structuredContent: { status: 'done', answer: 'Twelve.' } });
    t.match(await callMcp(client, 'read_chat', { block: 'ada', limit: 2 }), {
      structuredContent: {
        messages: [
          { id: messageId, role: 'user', text: 'How many chairs?', status: 'done' },
          { role: 'assistant', text: 'Twelve.', replyTo: messageId },
        ],
      },
    });
    t.match(await callMcp(client, 'why', { block: 'ada' }), { structuredContent: { name: 'ada', why: String } });
    t.match(await historyOf(server, 'ada'), [{ channel: 'mcp', chain: [{ via: 'mcp' }] }, {}]);
  });
