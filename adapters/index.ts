// The adapters, in the contract's order. Adding a provider is one line here and one folder.
import type { Adapter, CollectorSender, NoticeSender } from '../core/index.ts';
import { createAnthropic } from './anthropic/index.ts';
import { createBedrock } from './bedrock/index.ts';
import { createGoogle } from './google/index.ts';
import { createOllama } from './ollama/index.ts';
import { createOpenAI } from './openai/index.ts';
import { createCollectorSender as collectorSender } from './outbound/collector-sender.ts';
import { createNoticeSender as noticeSender } from './outbound/notice-sender.ts';

export { createStandIn, type StandInOptions } from './stand-in.ts';

/** What sends notifications, with connections of its own; `core.close()` closes them. */
export function createNoticeSender(): NoticeSender {
  return noticeSender();
}

/** What sends to a collector of OpenTelemetry, with connections of its own; who has it closes it. */
export function createCollectorSender(): CollectorSender {
  return collectorSender();
}

/** New instances, each with connections of its own; `core.close()` closes them. */
export function createAdapters(): Adapter[] {
  return [createBedrock(), createOpenAI(), createGoogle(), createAnthropic(), createOllama()];
}
