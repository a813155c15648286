// Targets of notifications, and decisions by their links.
//
// same-decision: a link decides through the same operation as everybody else, so one-decision and bound hold for it, too.
// ticket-first: nothing of a block is read for a text that is no ticket.
import { BlockhouseError, toBlockhouseError } from '../errors.ts';
import type { AboutApproval } from '../notify/outbox.ts';
import type { NotifyWork, OpenLink } from '../notify/notify.ts';
import { LinkDecision } from '../schemas/workspace-api.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import type { Approval } from '../types.ts';
import type { Blocks } from './api.ts';
import type { OperationsContext } from './operations.ts';

const checkDecision: Validator<LinkDecision> = compile(LinkDecision);
/** What a link can't be used for any more, whatever the reason. */
const OVER = new Set(['APPROVAL_NOT_FOUND', 'APPROVAL_DECIDED', 'APPROVAL_STALE', 'BLOCK_NOT_FOUND']);

type Operations = Pick<Blocks, 'notifyTargets' | 'setNotifyTarget' | 'removeNotifyTarget' | 'testNotifyTarget' | 'linkedApproval' | 'decideByLink'>;

/** The operations on targets and links. */
export function notifyOperations({ world, gate, blocks }: OperationsContext, decide: Blocks['decide']): Operations {
  const { notify } = world;
  const { waiting } = notifyWork({ blocks });
  const open = async (text: string): Promise<OpenLink> => {
    const link = await notify.link(text); // ticket-first
    if (link === undefined) throw new BlockhouseError('NOT_FOUND', 'There is no such link.');
    if (!link.isOpen) throw linkUsed();
    return link;
  };
  return {
    notifyTargets: () => notify.list(),
    setNotifyTarget: (name, body) => gate.pass(() => notify.set(name, body)),
    removeNotifyTarget: (name) => gate.pass(() => notify.remove(name)),
    testNotifyTarget: (name) => notify.test(name),
    async linkedApproval(text) {
      const { ticket } = await open(text);
      const approval = await waiting({ ...ticket, id: ticket.approval });
      if (approval?.kind !== 'call' || approval.digest !== ticket.digest) throw linkUsed();
      return { approval };
    },
    async decideByLink(text, body) {
      checkDecision(body);
      const { ticket, close } = await open(text);
      const { block, approval: id, digest, target } = ticket;
      const { decision } = body;
      const approval = await waiting({ ...ticket, id });
      if (approval?.kind !== 'call') throw linkUsed();
      try {
        const { tool } = await decide(block, id, { decision, digest }, { channel: 'link', name: target }); // same-decision
        await close();
        return { success: true, block, tool, decision };
      } catch (error) {
        if (!OVER.has(toBlockhouseError(error).code)) throw error; // such as a full disk: it can be tried again
        await close();
        throw linkUsed();
      }
    },
  };
}

/** What notifications ask of blocks. */
export function notifyWork({ blocks }: Pick<OperationsContext, 'blocks'>): NotifyWork {
  return { waiting: (about) => waitingIn(blocks, about) };
}

async function waitingIn(blocks: OperationsContext['blocks'], { block, messageId, id }: AboutApproval): Promise<Approval | undefined> {
  const found = await blocks.find(block).catch((error: unknown) => {
    if (toBlockhouseError(error).code !== 'BLOCK_NOT_FOUND') throw error;
    return undefined;
  });
  const records = (await found?.files.conversation.steps(messageId)) ?? [];
  const asked = records.find((record) => record.t === 'ask' && record.approval.id === id);
  if (asked?.t !== 'ask' || records.some((record) => record.t === 'decision' && record.approval === id)) return undefined;
  const isOver =
    records.some((record) => record.t === 'end') || records.some((record) => isOutcome(record.t) && 'call' in record && record.call === asked.call);
  return isOver && asked.approval.kind === 'call' ? undefined : asked.approval;
}

function isOutcome(kind: string): boolean {
  return kind === 'result' || kind === 'refused';
}

function linkUsed(): BlockhouseError {
  return new BlockhouseError('LINK_USED', 'This link was used, or has expired, or the call was decided elsewhere. `blockhouse approvals` shows what waits.');
}
