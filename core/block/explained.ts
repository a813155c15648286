// Reads what the explanation of a block is made from. A damaged block is explained too: people look here to learn what to repair.
import { toBlockhouseError } from '../errors.ts';
import type { Explanation } from '../schemas/block-api.ts';
import type { BlockConfig } from '../schemas/block-config.ts';
import type { BlockPulse, Reason } from '../schemas/block-pulse.ts';
import type { Block } from './block.ts';
import { countQueue, failuresIn } from './conversation/counts.ts';
import { completeConfig } from './documents/document-codecs.ts';
import { scheduleNotes } from './schedule-notes.ts';
import { candidatesOf, missingFor } from './status/candidates.ts';
import { explain } from './status/explain.ts';
import { statusOf } from './status/list-entry.ts';
import { toolNotes } from './tool-notes.ts';
import { unlessDamaged } from './status/readiness.ts';
import { faultReason } from './status/reasons.ts';

/** The explanation of a block as it is now, whatever is wrong with its files. */
export async function explained(block: Block): Promise<Explanation> {
  const { name, files, world } = block;
  const config = (await files.config.read().catch(unlessDamaged)) ?? completeConfig({}, name, block.at());
  const chat = await files.conversation.entries().catch(unlessDamaged);
  const pulse = await pulseOf(block);
  const queue = chat === undefined ? pulse.queue : countQueue(chat);
  const reason = pulse.state === 'unconfigured' ? (pulse.reason ?? missingReason(block, config)) : pulse.reason;
  const explanation = explain({ name, config, pulse: { ...pulse, reason, queue }, failures: failuresIn(chat ?? []), now: world.now() });
  const notes = [...(await scheduleNotes(config, () => block.stored.schedules.read(), world.now())), ...(await toolNotes(config, world))];
  return notes.length === 0 ? explanation : { ...explanation, notes };
}

/** Why the first model of a block without a monitor can't be called. */
function missingReason({ name, world }: Block, config: BlockConfig): Reason | null {
  const [first] = candidatesOf(config);
  if (first === undefined) return null;
  try {
    const missing = missingFor(world.gateway, first, 'config.adapter.provider');
    return missing === undefined ? null : faultReason(name, missing);
  } catch (error) {
    return faultReason(name, toBlockhouseError(error)); // an unknown provider
  }
}

/** The pulse; with the damage of the first file that can't be used as its reason. */
async function pulseOf(block: Block): Promise<BlockPulse> {
  try {
    return (await block.contents()).pulse;
  } catch (error) {
    unlessDamaged(error);
    const pulse = await block.pulse();
    return { ...pulse, state: 'failed', status: statusOf('failed'), attention: true, reason: faultReason(block.name, toBlockhouseError(error)) };
  }
}
