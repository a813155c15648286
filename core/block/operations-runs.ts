// The runs of messages with tools: their journals, their whole results, and decisions about calls that wait. The code of runs is loaded with the first of them.
import { BlockhouseError } from '../errors.ts';
import { parseBytes } from '../base/strict-json.ts';
import { type ChatEntry, RunResult } from '../schemas/chat-entry.ts';
import { closedObject, oneOf, string } from '../schemas/fields.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import type { Approval, Decider } from '../types.ts';
import type { Blocks, Decide } from './api.ts';
import type { Block } from './block.ts';
import { isWaiting } from './conversation/chat-file.ts';
import type { OperationsContext } from './operations.ts';
import type { Ownership } from './ownership.ts';

/** A note is for the model. */
const DECIDE = closedObject({ decision: oneOf(['approve', 'deny', 'ran', 'not-ran', 'tell']), digest: string, note: { type: 'string', maxLength: 4096 } }, [
  'note',
]);
const checkDecide: Validator<Decide> = compile(DECIDE);
const checkResult: Validator<RunResult> = compile(RunResult);

/** The operations on runs. */
export function runOperations({ blocks, change }: OperationsContext): Pick<Blocks, 'run' | 'runResult' | 'decide'> {
  return {
    async run(name, messageId) {
      const records = await (await blocks.find(name)).files.conversation.steps(messageId);
      if (records.length === 0) throw new BlockhouseError('RUN_NOT_FOUND', `The message ${JSON.stringify(messageId.slice(0, 64))} has no run with tools.`);
      return { messageId, records };
    },
    async runResult(name, messageId, ref) {
      const bytes = await (await blocks.find(name)).files.conversation.result(messageId, ref);
      if (bytes === undefined)
        throw new BlockhouseError('RUN_NOT_FOUND', 'There is no whole result of this call. Only those that were cut are kept, and the oldest are dropped.');
      const result = parseBytes(bytes);
      checkResult(result);
      return result;
    },
    decide: (name, approvalId, body, by) => change(name, (block) => decideOne(block, approvalId, body, by)),
  };
}

async function decideOne(block: Block, approval: string, body: unknown, by: Decider): Promise<Approval> {
  checkDecide(body);
  const { conversation } = block.files;
  const message = (await conversation.entries()).find(({ waitingFor }) => waitingFor?.includes(approval));
  if (message === undefined) throw new BlockhouseError('APPROVAL_NOT_FOUND', `No message of ${block.name} waits for ${JSON.stringify(approval.slice(0, 64))}.`);
  const { decide } = await import('./reply/run/parts.ts');
  // Without a claim: it counts from whichever server it comes, and the block is due at once.
  const decided = await decide({ conversation, claim: undefined, messageId: message.id, approval, body, by, at: block.at() });
  block.send({ type: 'approval.decided' });
  return decided;
}

/** Cancels a message that waits and has a run. Undefined if it has none, or has its outcome, or if another server answers it. */
export async function cancelRun(owners: Pick<Ownership, 'take' | 'tryTake'>, block: Block, messageId: string): Promise<ChatEntry | undefined> {
  const { conversation } = block.files;
  const message = (await conversation.entries()).find(({ id }) => id === messageId);
  if (message === undefined || !isWaiting(message) || (await conversation.steps(messageId)).length === 0) return undefined;
  const { cancelWaiting } = await import('./reply/run/parts.ts');
  if (!block.world.member().isShared) return cancelWaiting(block, message, block.tenure.claim);
  if (message.status === 'processing') return undefined;
  return block.tenure.using(async () => {
    if (message.status === 'waiting-approval')
      await owners.take(block); // nothing else is answered meanwhile
    else if (!(await owners.tryTake(block))) return undefined;
    return cancelWaiting(block, message, block.claim);
  });
}
