// Blockhouse as a library: chat and stream in your own program, without a server.
//
//   npm run build && npx tsx docs/examples/library.ts
//
// Asks a local Ollama daemon; OLLAMA_BASE_URL names another one, BLOCKHOUSE_EXAMPLE_MODEL another model.
import { createCore } from 'blockhouse';
import { createAdapters } from 'blockhouse/adapters';

// Without a workspace, nothing is read from disk: keys come from the environment, or from `config` of a request.
const core = createCore({ adapters: createAdapters() });
const model = process.env['BLOCKHOUSE_EXAMPLE_MODEL'] ?? core.adapter('ollama').defaultModel;

try {
  const answer = await core.chat({ adapter: 'ollama', model, messages: [{ role: 'user', content: 'Name a colour.' }] });
  process.stdout.write(`${answer.message.content}\n(${answer.usage.totalTokens} tokens, ${answer.stopReason})\n\n`);

  // Leaving the loop early aborts the request.
  for await (const event of core.stream({ adapter: 'ollama', model, messages: [{ role: 'user', content: 'Tell me a story.' }] })) {
    if (event.type === 'content') process.stdout.write(event.text);
    if (event.type === 'done') process.stdout.write(`\n(${event.usage.totalTokens} tokens, ${event.stopReason})\n`);
  }
} finally {
  await core.close();
}
