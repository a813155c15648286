// A server whose block "ada" waits for a person: it may pay, when somebody says yes.
import type { Test } from 'tap';
import { createNoticeSender } from '../../../adapters/outbound/notice-sender.ts';
import type { Approval } from '../../../core/types.ts';
import { RUNNABLE } from '../blocks.ts';
import { startServer, type TestServer, type TestServerOptions, until } from '../server.ts';
import { testFolder } from '../test-folder.ts';
import { pay } from '../tools/calls.ts';
import { PaymentHost } from '../tools/payment-host.ts';
import { toolModel } from '../tools/tool-model.ts';
import { type Receiver, startReceiver } from './receiver.ts';

export interface WaitingCall {
  readonly server: TestServer;
  readonly receiver: Receiver;
  readonly host: PaymentHost;
  readonly secret: string;
  /** Posts a message, and resolves with what waits. The notice of it is on its way. */
  ask(more?: object): Promise<Approval>;
  /** The link of the newest notice that has one. */
  link(): Promise<string>;
}

/** `target` is what is set beside the address; by default with links. */
export async function waitingCall(t: Test, target: object = {}, options: TestServerOptions = {}): Promise<WaitingCall> {
  const host = new PaymentHost({ book: `${testFolder(t)}/book` });
  let more: object = {};
  const answer = toolModel(({ results }) => (results.length === 0 ? [pay('bob', more)] : 'Paid.'));
  const receiver = await startReceiver(t);
  const server = await startServer(t, { tools: host, notices: createNoticeSender({ connectMs: 2000, answerMs: 2000 }), answer, ...options });
  const { blocks } = server.core;
  await blocks.create({ name: 'ada', config: { ...RUNNABLE, tools: { servers: ['bank'], ask: ['bank/*'] } } });
  const { secret = '' } = await blocks.setNotifyTarget('phone', { url: receiver.url, links: true, publicURL: server.url, ...target });
  return {
    server,
    receiver,
    host,
    secret,
    async ask(given = {}) {
      more = given;
      const { id } = await blocks.post('ada', { message: 'Pay bob. canary-text' }, 'api');
      await blocks.start('ada');
      let asked: Approval | undefined;
      await until(async () => {
        const entry = (await blocks.history('ada')).find((one) => one.id === id);
        if (entry?.status !== 'waiting-approval') return false;
        const record = (await blocks.run('ada', id)).records.find((one) => one.t === 'ask');
        asked = record?.t === 'ask' ? record.approval : undefined;
        return asked !== undefined;
      }, 'the call waits');
      return asked as Approval;
    },
    async link() {
      const found = (): string | undefined => receiver.received(secret).findLast(({ data }) => data.decide !== undefined)?.data.decide;
      await until(() => found() !== undefined, 'the notice has come');
      return found() ?? '';
    },
  };
}
