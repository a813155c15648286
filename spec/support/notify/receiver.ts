// A receiver of notices that judges their signatures with the library of Standard Webhooks.
import { Webhook } from 'standardwebhooks';
import type { Test } from 'tap';
import { createNoticeSender } from '../../../adapters/outbound/notice-sender.ts';
import { type StartedCore, type StartOptions, startCore } from '../blocks.ts';
import { until } from '../until.ts';
import { type Answerer, type FakeUpstream, startUpstream } from '../upstream.ts';

/** A notice that has come. */
export interface Received {
  readonly id: string;
  readonly type: string;
  readonly text: string;
  readonly timestamp: string;
  // biome-ignore lint/suspicious/noExplicitAny: what came is for the test to know
  readonly data: any;
}

export interface Receiver extends FakeUpstream {
  /** What has come so far. Throws for a wrong signature. */
  received(secret: string): Received[];
  /** Waits for so many, and returns them. */
  came(secret: string, count: number): Promise<Received[]>;
}

export const ok: Answerer = (_request, res) => void res.writeHead(204).end();

export async function startReceiver(t: Test, answer: Answerer = ok, port = 0): Promise<Receiver> {
  const upstream = await startUpstream(t, answer, undefined, port);
  const received = (secret: string): Received[] =>
    upstream.requests.map(({ headers, body }) => {
      new Webhook(secret).verify(body, headers as Record<string, string>);
      return { ...JSON.parse(body), id: headers['webhook-id'] };
    });
  return {
    ...upstream,
    received,
    came: async (secret, count) => {
      await until(`${count} notices have come`, () => upstream.requests.length >= count);
      return received(secret);
    },
  };
}

/** A core that can send. */
export function notifyingCore(t: Test, options: StartOptions = {}): Promise<StartedCore> {
  return startCore(t, { notices: createNoticeSender({ connectMs: 2000, answerMs: 2000 }), ...options });
}
