// Blocks in your own program, without a server.
//
//   npm run build && npx tsx docs/examples/blocks.ts
//
// Asks a local Ollama daemon; OLLAMA_BASE_URL names another one, BLOCKHOUSE_EXAMPLE_MODEL another model.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCore, type ReplyStep } from 'blockhouse';
import { createAdapters } from 'blockhouse/adapters';

const workspace = await mkdtemp(join(tmpdir(), 'blockhouse-example-'));
const core = createCore({ adapters: createAdapters(), workspace });
const model = process.env['BLOCKHOUSE_EXAMPLE_MODEL'] ?? core.adapter('ollama').defaultModel;

// This program holds the workspace now: no server can have it at the same time.
await core.start();
try {
  await core.blocks.create({ name: 'ada', config: { adapter: { provider: 'ollama', model }, systemPrompt: 'You are ada. Be brief.' } });
  await core.blocks.start('ada');
  const { id } = await core.blocks.post('ada', { message: 'Who are you?' }, 'api');
  const show = (step: ReplyStep): void => void (step.event === 'content' && process.stdout.write(step.text));
  const { entry, answer } = await core.blocks.answer('ada', id, { onReply: show });
  process.stdout.write(`\n(${entry.status}, ${answer?.usage?.totalTokens} tokens)\n`);
} finally {
  await core.close();
  await rm(workspace, { recursive: true });
}
