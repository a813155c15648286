// The adapters, in the contract's order. Adding a provider is one line here and one folder.
import type { Adapter, NoticeSender } from '../core/index.ts';
import { createAnthropic } from './anthropic/index.ts';
import { createBedrock } from './bedrock/index.ts';
import { createGoogle } from './google/index.ts';
import { createOllama } from './ollama/index.ts';
import { createOpenAI } from './openai/index.ts';
import { createNoticeSender as noticeSender } from './outbound/notice-sender.ts';

export { createStandIn, type StandInOptions } from './stand-in.ts';

/** What sends notifications, with connections of its own; `core.close()` closes them. */
export function createNoticeSender(): NoticeSender {
  return noticeSender();
}

/** New instances, each with connections of its own; `core.close()` closes them. */
export function createAdapters(): Adapter[] {
  return [createBedrock(), createOpenAI(), createGoogle(), createAnthropic(), createOllama()];
}
