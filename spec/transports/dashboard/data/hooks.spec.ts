import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import { deliveryCommand } from '../../../../transports/dashboard/data/hooks.ts';
import { hookFactsText, hookRemoveTitle } from '../../../../transports/dashboard/text/hooks.ts';
import { createBlock } from '../../../support/block-calls.ts';
import { startServer } from '../../../support/server.ts';

const run = promisify(execFile);
const hasTools = await run('sh', ['-c', 'command -v curl && command -v openssl && command -v base64 && command -v od']).then(
  () => true,
  () => false,
);

t.test('the command of a new hook delivers, in both styles', { skip: hasTools ? false : 'there is no curl or openssl' }, async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  for (const style of ['standard', 'github'] as const) {
    const { json } = await server.call('PUT', `/api/blocks/a/hooks/${style}`, { body: { message: 'x', style } });
    const { hook, secret } = json as unknown as { hook: { style: typeof style; path: string }; secret: string };
    const { stdout } = await run('sh', ['-c', deliveryCommand(hook, secret, server.url)]);
    t.match(JSON.parse(stdout), { messageId: /^m/ }, style);
  }
  t.match((await server.call('GET', '/api/blocks/a/chat')).json, { messages: [{ content: /"text":"Hello\."/ }, { channel: 'hook' }] });
});

t.test('words of a hook', async (t) => {
  const hook = { id: 'a', style: 'github', message: 'x', window: 3, perHour: 5, path: '/x', hasSecret: true } as const;
  t.equal(hookFactsText(hook), 'GitHub, 5 an hour at most');
  t.equal(hookRemoveTitle('a'), 'Remove the hook a?');
});
