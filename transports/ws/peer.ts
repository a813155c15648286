// One client: its messages, its subscriptions, and its end.
//
// one-subscription: a client has one subscription for each block; subscribing again replaces it.
// refresh-first: a subscription is answered by one refresh before any other frame about its block. A client that reads the
// block after that refresh misses no change.
// always-answered: every message is answered or closes the connection of its sender, and affects no other client.
// in-turns: while a turn has no more room for messages, those of further clients wait until their turn comes, one client after the other, and no more are read: each
//   may send hundreds at once, and there may be a thousand clients.
// clean-end: after the end of a connection none of its subscriptions and timers is left.
import type { WebSocket } from 'ws';
import { isObject, tryParseJson } from '../../core/base/json.ts';
import { hasRoom, nextTurn } from '../../core/base/next-turn.ts';
import {
  BlockhouseError,
  type Blocks,
  type Core,
  type EventFrame,
  errorBody,
  type LogLines,
  type ReplyStep,
  type StopFollowing,
  type SubscribeFrame,
  toBlockhouseError,
} from '../../core/index.ts';
import type { TransportLog } from '../log.ts';
import { followSteps } from '../run-steps.ts';
import { Allowance } from './allowance.ts';
import { Batch } from './batch.ts';
import type { Clock } from './clock.ts';
import { readFrame, topicOf, type WorkspaceFrame } from './frames.ts';
import type { WsLimits } from './limits.ts';
import { Outbox } from './outbox.ts';

/** The close codes of RFC 6455 that this transport sends. The package `ws` sends 1002, 1007 and 1009 itself. */
export const CLOSE = { goingAway: 1001, unsupportedData: 1003, policyViolation: 1008 } as const;

/** What a client's connection works with. */
export interface PeerContext {
  /** Read at each use: `core.blocks` throws when the core was not started. */
  readonly core: { readonly blocks: Pick<Blocks, 'follow' | 'followFleet'> } & Pick<Core, 'recent' | 'events'>;
  readonly clock: Clock;
  readonly limits: WsLimits;
  readonly log: TransportLog;
  readonly requestId: string;
}

type Turns = Readonly<{ hasRoom: typeof hasRoom; nextTurn: typeof nextTurn }>;

interface Subscription {
  readonly batch: Batch;
  readonly stop: StopFollowing;
}

/** The server's side of one WebSocket. */
export class Peer {
  readonly #socket: WebSocket;
  readonly #turns: Turns;
  readonly #context: PeerContext;
  readonly #outbox: Outbox;
  readonly #messages: Allowance;
  readonly #refusals: Allowance;
  readonly #subscriptions = new Map<string, Subscription>();
  /** What of the whole workspace is followed, and how it ends. */
  readonly #following = new Map<string, () => void>();
  #answered = true;
  #ending = false;
  /** in-turns: what has been read and waits; undefined while nothing need wait. */
  #late: (readonly [data: Buffer, isBinary: boolean])[] | undefined;
  #readsNoMore = false;

  /** `turns` are those of the process; a test has its own. */
  constructor(socket: WebSocket, context: PeerContext, turns: Turns = { hasRoom, nextTurn }) {
    this.#socket = socket;
    this.#turns = turns;
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
    // `ws` answers pings itself. They are counted here, because they cost as much as a message.
    socket.on('ping', () => this.#mayGoOn());
    socket.on('pong', () => {
      this.#answered = true;
      this.#mayGoOn();
    });
    socket.on('error', (error) => log.debug({ requestId, error: error.message }, 'websocket broke'));
    socket.once('close', () => this.#release());
  }

  /** Sends a ping, or cuts off a client that has not answered the last one. */
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

  /** Ends the connection without a close frame, for a client that does not read. */
  cutOff(reason: string): void {
    this.#context.log.info({ requestId: this.#context.requestId, reason }, 'websocket client disconnected');
    this.#release();
    this.#socket.terminate();
  }

  /** Closes and stops reading: reading the flood that is still arriving would delay other clients. `ws` then ends the connection after `closeMs`. */
  #stopReading(reason: string): void {
    this.close(CLOSE.policyViolation, reason);
    this.#readsNoMore = true;
    this.#socket.pause();
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (!this.#mayGoOn()) return;
    if (this.#late === undefined) this.#take(data, isBinary);
    else this.#late.push([data, isBinary]);
  }

  #take(data: Buffer, isBinary: boolean): void {
    if (this.#ending) return;
    if (isBinary) {
      this.close(CLOSE.unsupportedData, 'Send text frames, not binary ones.');
      return;
    }
    const text = data.toString('utf8');
    try {
      this.#handle(text);
    } catch (error) {
      this.#refuse(toBlockhouseError(error), text); // always-answered
    }
  }

  /** Counts a message. False when the connection is ending, also because this message was one too many. */
  #mayGoOn(): boolean {
    if (this.#ending) return false;
    if (this.#messages.take()) {
      this.#giveWay();
      return true;
    }
    this.#stopReading('Too many messages.');
    return false;
  }

  /** in-turns. */
  #giveWay(): void {
    if (this.#late !== undefined || this.#turns.hasRoom()) return;
    this.#late = [];
    this.#socket.pause();
    void this.#turns.nextTurn('websockets').then(() => {
      const late = this.#late ?? [];
      this.#late = undefined;
      for (const [data, isBinary] of late) this.#take(data, isBinary);
      if (!this.#readsNoMore) this.#socket.resume();
    });
  }

  #handle(text: string): void {
    const frame = readFrame(text);
    if (frame.type !== 'ping' && !('block' in frame)) this.#workspace(frame);
    else if (frame.type === 'subscribe') this.#subscribe(frame);
    else if (frame.type === 'unsubscribe') this.#unsubscribe(frame.block);
    else this.#outbox.send({ type: 'pong' });
  }

  #refuse(failure: BlockhouseError, text: string): void {
    const { log, requestId } = this.#context;
    if (failure.code === 'INTERNAL_ERROR') log.error({ requestId, code: failure.code, err: failure.cause ?? failure }, 'websocket message failed');
    const block = blockIn(text);
    const { error, code } = errorBody(failure);
    this.#outbox.send({ type: 'error', code, error, ...(block !== undefined && { block }) });
    if (!this.#refusals.take()) this.#stopReading('Too many invalid messages.');
  }

  #subscribe({ block, stream, sinceSeq, logs, steps: wantsSteps }: SubscribeFrame): void {
    if (!this.#subscriptions.has(block)) this.#assertRoom();
    this.#unsubscribe(block); // one-subscription
    const { clock, limits, core } = this.#context;
    const batch = new Batch(limits, clock, () => this.#outbox.refresh(block));
    // Holds the steps that `follow` delivers at once, until the refresh is sent (refresh-first).
    let early: ReplyStep[] | undefined = [];
    const onReply = (step: ReplyStep): void => {
      if (early === undefined) this.#outbox.step(block, step);
      else early.push(step);
    };
    const stop = core.blocks.follow(block, {
      onChange: () => batch.change(),
      onGone: () => this.#gone(block),
      ...(stream === true && { onReply, sinceSeq }),
      ...(logs === true && { onLog: (lines: LogLines) => this.#outbox.log(block, lines) }),
    });
    const stopSteps = wantsSteps === true ? followSteps(core.blocks, block, (frame) => this.#outbox.run(frame)) : undefined;
    const stopAll = (): void => {
      stop();
      stopSteps?.();
    };
    this.#subscriptions.set(block, { batch, stop: stopAll });
    this.#outbox.refresh(block);
    const steps = early;
    early = undefined;
    for (const step of steps) this.#outbox.step(block, step);
  }

  /** Follows the list or the events, or stops. */
  #workspace(frame: WorkspaceFrame): void {
    const topic = topicOf(frame) ?? 'fleet';
    this.#following.get(topic)?.();
    this.#following.delete(topic);
    if (frame.type === 'unsubscribe') return;
    this.#assertRoom();
    const { core } = this.#context;
    const { since } = frame as { readonly since?: number };
    const stop =
      topic === 'fleet'
        ? core.blocks.followFleet((changes) => this.#outbox.send({ type: 'fleet', ...changes }), since)
        : core.recent.follow((event) => this.#outbox.send({ type: 'event', ...event } as EventFrame), since);
    this.#following.set(topic, stop);
  }

  #assertRoom(): void {
    const { maxSubscriptions } = this.#context.limits;
    if (this.#subscriptions.size + this.#following.size >= maxSubscriptions)
      throw new BlockhouseError('INVALID_REQUEST', `This socket already has ${maxSubscriptions} subscriptions, the limit; unsubscribe from one of them first.`);
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

  /** clean-end. */
  #release(): void {
    if (this.#ending) return;
    this.#ending = true;
    this.#outbox.close();
    for (const stop of this.#following.values()) stop();
    for (const block of [...this.#subscriptions.keys()]) this.#unsubscribe(block);
  }
}

/** The `block` of a refused message; undefined when it has none that could be a name. */
function blockIn(text: string): string | undefined {
  const value = tryParseJson(text);
  const block = isObject(value) ? value['block'] : undefined;
  return typeof block === 'string' && block.length <= 256 ? block : undefined;
}
