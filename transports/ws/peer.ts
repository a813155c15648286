// One client: what it says, which blocks it follows, what it is told.
//
// R1 One subscription for each block; subscribing again replaces it.
// R2 A subscription is answered by one refresh before anything else about its block, so that no change falls between
//    the reading of a client and its subscription.
// R3 Whatever a client sends is answered or ends its connection; nothing that it sends ends anything else.
// R4 After the end nothing of it is left: no following, no timer.
import type { WebSocket } from 'ws';
import {
  BlockhouseError,
  type Blocks,
  errorBody,
  isObject,
  type ReplyStep,
  type StopFollowing,
  type SubscribeFrame,
  toBlockhouseError,
  tryParseJson,
} from '../../core/index.ts';
import type { TransportLog } from '../log.ts';
import { Allowance } from './allowance.ts';
import { Batch } from './batch.ts';
import type { Clock } from './clock.ts';
import { readFrame } from './frames.ts';
import type { WsLimits } from './limits.ts';
import { Outbox } from './outbox.ts';

/** Close codes of RFC 6455 that the server uses of its own accord; `ws` adds those for broken frames. */
export const CLOSE = { goingAway: 1001, unsupportedData: 1003, policyViolation: 1008 } as const;

export interface PeerContext {
  /** Read at each use: a core that was not started has none, and says so. */
  readonly core: { readonly blocks: Pick<Blocks, 'follow'> };
  readonly clock: Clock;
  readonly limits: WsLimits;
  readonly log: TransportLog;
  readonly requestId: string;
}

interface Subscription {
  readonly batch: Batch;
  readonly stop: StopFollowing;
}

export class Peer {
  readonly #socket: WebSocket;
  readonly #context: PeerContext;
  readonly #outbox: Outbox;
  readonly #messages: Allowance;
  readonly #refusals: Allowance;
  readonly #subscriptions = new Map<string, Subscription>();
  #answered = true;
  #ending = false;

  constructor(socket: WebSocket, context: PeerContext) {
    this.#socket = socket;
    this.#context = context;
    const { limits, clock, log, requestId } = context;
    const line = {
      get bufferedAmount() {
        return socket.bufferedAmount;
      },
      send: (text: string, left: () => void) => socket.send(text, () => left()),
    };
    this.#outbox = new Outbox(line, limits, clock, (reason) => this.cutOff(reason));
    this.#messages = new Allowance(limits.messageBurst, limits.messagesPerSecond, clock.now);
    this.#refusals = new Allowance(limits.refusalBurst, limits.refusalsPerSecond, clock.now);
    socket.on('message', (data: Buffer, isBinary) => this.#receive(data, isBinary));
    // Answered by `ws`; counted here, for they cost as much as a message.
    socket.on('ping', () => this.#mayGoOn());
    socket.on('pong', () => {
      this.#answered = true;
      this.#mayGoOn();
    });
    socket.on('error', (error) => log.debug({ requestId, error: error.message }, 'the WebSocket broke'));
    socket.once('close', () => this.#release());
  }

  /** Asks for a sign of life; a client that gave none since the last time is cut off. */
  ping(): void {
    if (this.#ending) return;
    if (!this.#answered) {
      this.cutOff('it did not answer a ping');
      return;
    }
    this.#answered = false;
    this.#socket.ping();
  }

  close(code: number, reason: string): void {
    this.#release();
    this.#socket.close(code, reason);
  }

  /** Without a farewell, for who would not read it. */
  cutOff(reason: string): void {
    this.#context.log.info({ requestId: this.#context.requestId, reason }, 'a WebSocket client was cut off');
    this.#release();
    this.#socket.terminate();
  }

  /** What is on its way would hold the others up, and nobody wants it any more: so the farewell is not waited for either (`closeMs`). */
  #stopReading(reason: string): void {
    this.close(CLOSE.policyViolation, reason);
    this.#socket.pause();
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (!this.#mayGoOn()) return;
    if (isBinary) {
      this.close(CLOSE.unsupportedData, 'Send text.');
      return;
    }
    const text = data.toString('utf8');
    try {
      this.#handle(text);
    } catch (error) {
      this.#refuse(toBlockhouseError(error), text); // R3
    }
  }

  /** False when the connection is at its end, or is ended now: too much was said. */
  #mayGoOn(): boolean {
    if (this.#ending) return false;
    if (this.#messages.take()) return true;
    this.#stopReading('Too many messages.');
    return false;
  }

  #handle(text: string): void {
    const frame = readFrame(text);
    if (frame.type === 'subscribe') this.#subscribe(frame);
    else if (frame.type === 'unsubscribe') this.#unsubscribe(frame.block);
    else this.#outbox.send({ type: 'pong' });
  }

  #refuse(failure: BlockhouseError, text: string): void {
    const { log, requestId } = this.#context;
    if (failure.code === 'INTERNAL_ERROR') log.error({ requestId, code: failure.code, err: failure.cause ?? failure }, 'a WebSocket message failed');
    const block = blockIn(text);
    const { error, code } = errorBody(failure);
    this.#outbox.send({ type: 'error', code, error, ...(block !== undefined && { block }) });
    if (!this.#refusals.take()) this.#stopReading('Too many messages that had to be refused.');
  }

  #subscribe({ block, stream, sinceSeq }: SubscribeFrame): void {
    const { maxSubscriptions } = this.#context.limits;
    if (!this.#subscriptions.has(block) && this.#subscriptions.size >= maxSubscriptions)
      throw new BlockhouseError('INVALID_REQUEST', `This socket follows ${maxSubscriptions} blocks, which is the most; unsubscribe from one of them first.`);
    this.#unsubscribe(block); // R1
    const { clock, limits, core } = this.#context;
    const batch = new Batch(limits, clock, () => this.#outbox.refresh(block));
    // Steps that come while the subscription is being made: the refresh goes first (R2).
    let early: ReplyStep[] | undefined = [];
    const onReply = (step: ReplyStep): void => {
      if (early === undefined) this.#outbox.step(block, step);
      else early.push(step);
    };
    const stop = core.blocks.follow(block, {
      onChange: () => batch.change(),
      onGone: () => this.#gone(block),
      ...(stream === true && { onReply, sinceSeq }),
    });
    this.#subscriptions.set(block, { batch, stop });
    this.#outbox.refresh(block);
    const steps = early;
    early = undefined;
    for (const step of steps) this.#outbox.step(block, step);
  }

  #unsubscribe(block: string): void {
    const subscription = this.#subscriptions.get(block);
    if (subscription === undefined) return;
    this.#subscriptions.delete(block);
    subscription.stop();
    subscription.batch.clear();
    this.#outbox.forget(block);
  }

  #gone(block: string): void {
    this.#unsubscribe(block);
    this.#outbox.send({ type: 'gone', block });
  }

  /** R4 */
  #release(): void {
    if (this.#ending) return;
    this.#ending = true;
    this.#outbox.close();
    for (const block of [...this.#subscriptions.keys()]) this.#unsubscribe(block);
  }
}

/** The block that a refused message spoke of, where it spoke of one. */
function blockIn(text: string): string | undefined {
  const value = tryParseJson(text);
  const block = isObject(value) ? value['block'] : undefined;
  return typeof block === 'string' && block.length <= 256 ? block : undefined;
}
