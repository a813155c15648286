// The runs of messages with tools: their journals, their whole results, and decisions about calls that wait. The code of runs is loaded with the first of them.
import { BlockhouseError } from '../errors.ts';
import { parseBytes } from '../base/strict-json.ts';
import { type ChatEntry, RunResult } from '../schemas/chat-entry.ts';
import * as schemas from '../schemas/chat-api.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import type { Warning } from '../schemas/chat.ts';
import type { ApprovalQuery, Decide, Decider, ResultPage, ShownApproval } from '../types.ts';
import type { Blocks } from './api.ts';
import type { ApprovalIndex, ApprovalPlace } from './approval-index.ts';
import type { Block } from './block.ts';
import { isWaiting } from './conversation/chat-file.ts';
import { addRule } from './operations-config.ts';
import { listApprovals } from './operations-approvals.ts';
import type { OperationsContext } from './operations.ts';
import type { Ownership } from './ownership.ts';
import type { WorkspaceTools } from './reply/block-context.ts';
import { hasTools } from './reply/has-tools.ts';

const checkDecide: Validator<Decide> = compile(schemas.Decide);
const checkQuery: Validator<ApprovalQuery> = compile(schemas.ApprovalQuery);
const checkResult: Validator<RunResult> = compile(RunResult);
const checkResultPage: Validator<ResultPage> = compile(schemas.ResultPage);

/** The operations on runs. */
export function runOperations(
  { blocks, change, world }: OperationsContext,
  index: ApprovalIndex,
): Pick<Blocks, 'run' | 'runResult' | 'tools' | 'decide' | 'approvals' | 'approval' | 'decideApproval'> {
  const conversationOf = async (block: string) => (await blocks.find(block)).files.conversation;
  const decide: Blocks['decide'] = (name, approvalId, body, by) =>
    change(name, (block) => index.inTurn(approvalId, () => decideOne(block, index, approvalId, body, by)));
  return {
    async run(name, messageId) {
      const records = await (await conversationOf(name)).steps(messageId);
      if (records.length === 0) throw new BlockhouseError('RUN_NOT_FOUND', `The message ${JSON.stringify(messageId.slice(0, 64))} has no run with tools.`);
      return { messageId, records };
    },
    async runResult(name, messageId, ref, page) {
      if (page !== undefined) checkResultPage(page);
      const bytes = await (await conversationOf(name)).result(messageId, ref);
      if (bytes === undefined)
        throw new BlockhouseError('RUN_NOT_FOUND', 'There is no whole result of this call. Only those that were cut are kept, and the oldest are dropped.');
      const result = parseBytes(bytes);
      checkResult(result);
      return page === undefined ? result : (await runParts()).pageOf(result, page);
    },
    async tools(name) {
      const { files } = await blocks.find(name);
      const config = await files.config.read();
      if (world.tools === undefined || !hasTools(config)) return { servers: [], tools: [] };
      return (await runParts()).toolRules({ host: world.tools.host, config, conversation: files.conversation, now: world.now() });
    },
    decide,
    async approvals(query = {}) {
      checkQuery(query);
      return listApprovals(index, query, conversationOf, world.now());
    },
    async approval(id) {
      const place = await placeOf(index, id);
      const found = await (await runParts()).approvalOf(await conversationOf(place.block), place.messageId, id, world.now());
      if (found === undefined) throw noApproval(id);
      return { ...found, block: place.block };
    },
    decideApproval: async (id, body, by) => decide((await placeOf(index, id)).block, id, body, by),
  };
}

/** The code of runs is loaded with the first of them. */
const runParts = (): Promise<typeof import('./reply/run/parts.ts')> => import('./reply/run/parts.ts');

async function placeOf(index: ApprovalIndex, id: string): Promise<ApprovalPlace> {
  const place = await index.placeOf(id);
  if (place === undefined) throw noApproval(id);
  return place;
}

function noApproval(id: string): BlockhouseError {
  return new BlockhouseError('APPROVAL_NOT_FOUND', `No call waits, or has waited lately, under the id ${JSON.stringify(id.slice(0, 64))}.`);
}

async function decideOne(block: Block, index: ApprovalIndex, approval: string, body: unknown, by: Decider): Promise<ShownApproval> {
  checkDecide(body);
  const { conversation } = block.files;
  const waiting = (await conversation.entries()).find(({ waitingFor }) => waitingFor?.includes(approval))?.id;
  const place = waiting === undefined ? await index.placeOf(approval) : { block: block.name, messageId: waiting };
  if (place?.block !== block.name)
    throw new BlockhouseError('APPROVAL_NOT_FOUND', `No message of ${block.name} waits for ${JSON.stringify(approval.slice(0, 64))}.`);
  const { bus, tools } = block.world;
  const decided = await (await runParts()).decide({
    conversation,
    claim: undefined, // it counts from whichever server it comes, and the block is due at once
    messageId: place.messageId,
    listener: { block: block.name, bus, log: block.isRunning ? block.log : undefined },
    approval,
    body,
    by,
    now: block.world.now(),
    pinNow: (tool) => pinNow(tools, tool),
    allow: (rule) => addRule(block, rule),
  });
  block.send({ type: 'approval.decided' });
  return { ...decided, block: block.name };
}

/** What the host says of a tool now. The built-in ones are none of a host. Rejects with TOOL_SERVER_FAILED where a whole server can't be used: its tools are as they were. */
async function pinNow(tools: WorkspaceTools | undefined, id: string): Promise<string | null | undefined> {
  const [server = '', ...rest] = id.split('/');
  if (tools === undefined || server === 'block') return undefined;
  const { tools: offered, problems } = await tools.host.catalogue([server]);
  const problem = offered.length === 0 ? problems.find((one) => one.server === server)?.problem : undefined;
  if (problem !== undefined) {
    const cure = 'Then approve the call, or deny it now; it waits until then.';
    throw new BlockhouseError('TOOL_SERVER_FAILED', `${server} can't be called: ${problem.replace(/\.$/, '')}. ${cure}`);
  }
  return offered.find(({ tool }) => tool === rest.join('/'))?.pin ?? null;
}

/**
 * Cancels the messages of a new copy whose runs have not ended: what waits for a person waits in the block that was copied, and what was approved or sent there is
 * not sent again from here, however often the copy is made.
 */
export async function cancelCopiedRuns(owners: Pick<Ownership, 'take' | 'tryTake'>, block: Block): Promise<Warning[]> {
  const waiting = (await block.files.conversation.entries()).filter((entry) => entry.role === 'user' && isWaiting(entry));
  const cancelled: string[] = [];
  for (const { id } of waiting) if ((await cancelRun(owners, block, id, true)) !== undefined) cancelled.push(id);
  const [first] = cancelled;
  if (first === undefined) return [];
  const [are, their] =
    cancelled.length === 1
      ? ['1 message was being answered with tools, and is', 'its']
      : [`${cancelled.length} messages were being answered with tools, and are`, 'their'];
  const message = `${are} cancelled in this copy: none of ${their} calls is made here. \`blockhouse queue ${block.name} --retry ${first}\` asks ${cancelled.length === 1 ? 'it' : 'the first'} again.`;
  return [{ field: 'chat', message }];
}

/** Before a message with an outcome is asked again: ends what its journal has left open. */
export async function endOldRun(block: Block, messageId: string): Promise<void> {
  if ((await block.files.conversation.steps(messageId)).length > 0) await (await runParts()).endOldRun(block, messageId);
}

/** Cancels a message that waits and has a run. Undefined if it has none, or has its outcome, or if another server answers it. */
export async function cancelRun(owners: Pick<Ownership, 'take' | 'tryTake'>, block: Block, messageId: string, isCopy = false): Promise<ChatEntry | undefined> {
  const { conversation } = block.files;
  const message = (await conversation.entries()).find(({ id }) => id === messageId);
  if (message === undefined || !isWaiting(message) || (await conversation.steps(messageId)).length === 0) return undefined;
  const { cancelWaiting } = await runParts();
  if (!block.world.member().isShared) return cancelWaiting(block, message, block.tenure.claim, isCopy);
  if (message.status === 'processing' && !isCopy) return undefined;
  return block.tenure.using(async () => {
    if (message.status === 'waiting-approval' || isCopy)
      await owners.take(block); // nothing else is answered meanwhile
    else if (!(await owners.tryTake(block))) return undefined;
    return cancelWaiting(block, message, block.claim, isCopy);
  });
}
