// Another agent says something to a block over MCP.
//
// one-message: the same clientId is the same message for ever; with another text it is refused, because a model that counts its ids from 1 would read the answer to
//   something else.
// apart: the id has its sender in it, so two keys with the same clientId never meet, and neither meets the ids of other clients.
// hourly: a loop through a foreign agent can't be seen from here, so a sender has a number of messages an hour, over all blocks. One that was sent before counts once.
import { hash } from 'node:crypto';
import type { ByHour } from '../base/by-hour.ts';
import { BlockhouseError, invalidRequest } from '../errors.ts';
import { PostMessage } from '../schemas/chat-api.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import type { AgentMessage } from './api.ts';
import { earlier } from './ask.ts';
import type { Block } from './block.ts';
import type { QueueMessage } from './operations.ts';

const checkPost: Validator<PostMessage> = compile(PostMessage);
/** Of one key, and of the token of the workspace. */
export const AGENT_MESSAGES_PER_HOUR = 60;

interface SendingWith {
  /** What each sender has sent. */
  readonly sent: ByHour;
  readonly queue: QueueMessage;
  autoStart(block: Block): Promise<void>;
}

/** Queues the message, which is on disk when it resolves, unless it is there already. Throws INVALID_REQUEST, MCP_LIMIT, IDEMPOTENCY_KEY_REUSED, QUEUE_FULL. */
export async function postFromAgent(
  block: Block,
  { body, key, refusal, traceparent }: AgentMessage,
  { sent, queue, autoStart }: SendingWith,
): Promise<{ readonly id: string }> {
  checkPost(body);
  if (body.message.trim() === '') throw invalidRequest('message', 'must not be blank');
  const sender = key === undefined ? 'token' : `key ${key.name} ${key.hash}`;
  const clientId = body.clientId === undefined ? undefined : `mcp:${key?.name ?? ''}:${hash('sha256', JSON.stringify([sender, body.clientId]), 'base64url')}`;
  const known = clientId === undefined ? undefined : await earlier(block, clientId);
  const id = known ?? (await post());
  if (clientId !== undefined) await assertSame(block, id, body.message);
  return { id };

  async function post(): Promise<string> {
    if (refusal !== undefined) throw refusal;
    const now = block.world.monotonic();
    if (sent.of(sender, now) >= AGENT_MESSAGES_PER_HOUR)
      throw new BlockhouseError('MCP_LIMIT', `At most ${AGENT_MESSAGES_PER_HOUR} messages an hour may be sent over MCP with one key. Send it again later.`, {
        retryAfterMs: sent.waitOf(sender, now),
      }); // hourly
    sent.add(sender, now);
    const chain = [{ via: 'mcp', ...(key !== undefined && { key: key.name, ...(key.trusted === true && { trusted: true }) }) }] as const;
    return (await queue(block, { content: body.message, channel: 'mcp', clientId, chain }, autoStart, traceparent)).id;
  }
}

/** one-message. Of two at once, one is queued and both look here. */
async function assertSame(block: Block, id: string, message: string): Promise<void> {
  const { entry } = await block.files.conversation.message(id);
  if (entry.content !== message)
    throw new BlockhouseError(
      'IDEMPOTENCY_KEY_REUSED',
      `The clientId was sent to ${block.name} before, with another message (${id}). Send another clientId with this one.`,
    );
}
