import { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import type { Api } from '../../../cli/client/api.ts';
import { withSpinner } from '../../../cli/talk/wait-display.ts';
import { Spinner } from '../../../cli/terminal/spinner.ts';

const api = { history: async () => [] } as unknown as Api;
const awaited = { api, block: 'one', id: 'm1', ahead: 0, isRunning: true, isStreamed: true };

function screen(): { readonly stream: Writable; readonly text: () => string } {
  let text = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  return { stream, text: () => text };
}

t.test('when nobody looks, the watcher is left as it is, and nothing is written', async (t) => {
  const { stream, text } = screen();
  const watcher = {};
  t.equal(withSpinner(watcher, new Spinner(stream, false), awaited), watcher);
  t.equal(text(), '');
});

t.test('the steps of the reply still reach the watcher, and streamed text ends the spinner', async (t) => {
  const { stream } = screen();
  const steps: string[] = [];
  const spinner = new Spinner(stream, true);
  const watcher = withSpinner({ step: async ({ event }) => void steps.push(event) }, spinner, awaited);
  t.teardown(() => spinner.stop());
  for (const event of ['start', 'content'] as const) await watcher.step?.({ event } as never);
  t.same(steps, ['start', 'content']);
});

t.test('the spinner never erases the text of an answer that has ended and is not yet read whole', async (t) => {
  for (const [isStreamed, comesBack] of [
    [true, false],
    [false, true],
  ] as const) {
    const { stream, text } = screen();
    const spinner = new Spinner(stream, true);
    t.teardown(() => spinner.stop());
    const watcher = withSpinner({}, spinner, { ...awaited, isStreamed });
    for (const event of ['start', 'content', 'done'] as const) await watcher.step?.({ event } as never);
    // Long enough for a wait that shows, and for a tick.
    await delay(500);
    t.equal(text() !== '', comesBack);
  }
});

t.test('what a message waits for reaches the watcher too', async (t) => {
  const { stream } = screen();
  const found: string[] = [];
  const spinner = new Spinner(stream, true);
  const watcher = withSpinner({ waiting: async ({ status }) => void found.push(status) }, spinner, awaited);
  t.teardown(() => spinner.stop());
  for (const status of ['queued', 'waiting-approval']) await watcher.waiting?.({ status } as never);
  t.same(found, ['queued', 'waiting-approval']);
});

t.test('a lost connection reaches the watcher too', async (t) => {
  const { stream } = screen();
  const states: string[] = [];
  const spinner = new Spinner(stream, true);
  const watcher = withSpinner({ connection: async (state) => void states.push(state) }, spinner, { ...awaited, isRunning: false });
  t.teardown(() => spinner.stop());
  await watcher.connection?.('lost');
  t.same(states, ['lost']);
});
