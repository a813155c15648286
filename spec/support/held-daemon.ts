// A fake daemon that answers when the test says so.
import type { ServerResponse } from 'node:http';
import type { BlockPulse } from '../../core/schemas/block-pulse.ts';
import { askedOf, endAnswer, type StartedCore, sendPiece } from './blocks.ts';
import { until } from './until.ts';
import { type Answerer, sendJson } from './upstream.ts';

export interface HeldCall {
  readonly asked: ReturnType<typeof askedOf>;
  readonly res: ServerResponse;
  say(text: string): void;
  end(): void;
  /** Says everything at once. */
  answer(text: string): void;
  refuse(status: number, message: string, headers?: Record<string, string>): void;
  /** Breaks the connection. */
  cut(): void;
  readonly isClosed: boolean;
}

export interface HeldDaemon {
  readonly answer: Answerer;
  readonly calls: readonly HeldCall[];
  /** Call number `index`, once it is there. */
  call(index: number): Promise<HeldCall>;
}

/** `onCall` is asked first; what it leaves alone waits for the test. */
export function heldDaemon(onCall: (call: HeldCall, index: number) => void = () => undefined): HeldDaemon {
  const calls: HeldCall[] = [];
  return {
    calls,
    answer: (request, res) => {
      const call: HeldCall = {
        asked: askedOf(request),
        res,
        say: (text) => sendPiece(res, text),
        end: () => endAnswer(res),
        answer: (text) => {
          sendPiece(res, text);
          endAnswer(res);
        },
        refuse: (status, message, headers = {}) => sendJson(res, { error: message }, status, headers),
        cut: () => res.destroy(),
        get isClosed() {
          return res.closed || res.destroyed;
        },
      };
      calls.push(call);
      onCall(call, calls.length - 1);
    },
    call: async (index) => {
      await until(`call ${index} is there`, () => calls.length > index);
      return calls[index] as HeldCall;
    },
  };
}

/** pulse.json once it says so: steps are told before they are written. */
export async function pulseIn(one: Pick<StartedCore, 'readJson'>, name: string, state: BlockPulse['state']): Promise<BlockPulse> {
  const read = (): BlockPulse => one.readJson(name, 'pulse');
  await until(`pulse.json of ${name} says ${state}`, () => read().state === state);
  return read();
}
