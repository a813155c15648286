// What a program that uses the package may write, and what the compiler must refuse. package.spec.ts compiles it against the packed package, with
// strict and without skipLibCheck.
import { type BlockConfigPatch, BlockhouseError, type ChatRequest, type Core, createCore, type Message } from 'blockhouse';
import { createAdapters } from 'blockhouse/adapters';
import { createHttpTransport } from 'blockhouse/http';
import { createWsTransport } from 'blockhouse/ws';

/** Good uses. */
export async function good(): Promise<string> {
  const core = createCore({ workspace: '/tmp/w', adapters: createAdapters(), retries: 1 });
  const http = createHttpTransport(core, { mounts: [{ prefix: '/mine', handler: (_req, res) => res.end('ok') }] });
  createWsTransport(core, http.server);
  const messages: readonly Message[] = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'What is the weather?' },
    { role: 'assistant', toolCalls: [{ id: '1', name: 'weather', arguments: { city: 'Bonn' } }] },
    { role: 'tool', toolResults: [{ toolCallId: '1', content: 'rain' }] },
  ];
  const request: ChatRequest = { adapter: 'ollama', model: 'm', messages, config: { temperature: 0.5 } };
  const { message, usage } = await core.chat({ ...request, adapter: 'an-adapter-of-mine', tools: [{ name: 'weather', parameters: { type: 'object' } }] });
  for await (const event of core.stream(request)) if (event.type === 'content') message.content.concat(event.text);
  const { name } = await core.blocks.create({ name: 'ada', config: { adapter: { provider: 'ollama', model: 'm' }, goals: ['Help.'] } });
  const patch: BlockConfigPatch = { budget: { dailyUsd: 1 }, adapter: null };
  const { config } = await core.blocks.updateConfig(name, patch, { ifMatch: 1 });
  const receipt = await core.blocks.post(name, { message: 'Hello', clientId: 'a' }, 'api');
  await core.blocks.addFact(name, { text: 'The sky is blue.', pinned: false });
  core.events.on('call.finished', ({ durationMs }) => durationMs.toFixed());
  const { note } = await core.blocks.answer(name, receipt.id, { waitMs: 1000, onReply: (step) => step.event === 'content' && step.text.length });
  const { answer } = await core.blocks.message(name, receipt.id);
  return `${usage.totalTokens} ${config.memory.keepMessages} ${answer?.content ?? note}`;
}

/** What an error says is typed. */
export const retryable = (error: unknown): boolean => error instanceof BlockhouseError && error.code === 'UPSTREAM_TIMEOUT';

/** Mistakes. Each is an error of the compiler; one that compiles is an unused `@ts-expect-error`, which is an error too. */
export async function mistakes(core: Core, text: string): Promise<void> {
  // @ts-expect-error The option is waitMs.
  await core.blocks.answer('ada', text, { wait: 30 });
  // @ts-expect-error The body has no name.
  await core.blocks.create({ config: {} });
  // @ts-expect-error `systemPromt` is a typo.
  await core.blocks.create({ name: 'ada', config: { systemPromt: text } });
  // @ts-expect-error An adapter needs a model.
  await core.blocks.create({ name: 'ada', config: { adapter: { provider: 'ollama' } } });
  // @ts-expect-error `messsage` is a typo.
  await core.blocks.post('ada', { messsage: text }, 'api');
  // @ts-expect-error There is no such channel.
  await core.blocks.post('ada', { message: text }, 'telegram');
  // @ts-expect-error A budget is a number.
  await core.blocks.updateConfig('ada', { budget: { dailyUsd: '1' } });
  // @ts-expect-error `tag` is a typo.
  await core.blocks.updateConfig('ada', { tag: ['a'] });
  // @ts-expect-error `pined` is a typo.
  await core.blocks.addFact('ada', { text, pined: true });
  // @ts-expect-error `as` is not a field of the body.
  await core.blocks.restore('ada', { as: 'bob' });
  // @ts-expect-error `because` is not a field of the body.
  await core.blocks.halt({ because: text });
  // @ts-expect-error There is no role `human`.
  await core.chat({ adapter: 'ollama', model: 'm', messages: [{ role: 'human', content: text }] });
  // @ts-expect-error A user has no tool calls.
  await core.chat({ adapter: 'ollama', model: 'm', messages: [{ role: 'user', content: text, toolCalls: [] }] });
  // @ts-expect-error A message of a tool has results.
  await core.chat({ adapter: 'ollama', model: 'm', messages: [{ role: 'tool', content: text }] });
  // @ts-expect-error `max_tokens` is `maxTokens`.
  await core.chat({ adapter: 'ollama', model: 'm', messages: [], config: { max_tokens: 1 } });
  // @ts-expect-error There is no such event.
  core.events.on('chat.ended', () => undefined);
  // @ts-expect-error The workspace is a path.
  createCore({ workspace: 1, adapters: [] });
}
