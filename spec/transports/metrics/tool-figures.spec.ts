import t from 'tap';
import { createBus } from '../../../core/bus.ts';
import { ToolFigures } from '../../../transports/metrics/tool-figures.ts';

const call = (tool: string) => ({ block: 'ada', id: 'm1', call: '1.1', tool });

t.test('calls, their durations, starts and ends are counted by server, and never by tool', async (t) => {
  const events = createBus();
  const figures = new ToolFigures(events);
  for (const tool of ['bank/pay', 'bank/read', 'files/read']) events.emit('tool.called', call(tool));
  events.emit('tool.finished', { ...call('bank/pay'), outcome: 'done', isError: false, ms: 1500 });
  events.emit('tool.finished', { ...call('bank/read'), outcome: 'denied', isError: false, ms: null });
  events.emit('server.started', { server: 'files' });
  events.emit('server.exited', { server: 'files', reason: 'the words of an error' });
  t.strictSame(Object.fromEntries(figures.counts('sent')), { bank: 2, files: 1 });
  t.strictSame(Object.fromEntries(figures.counts('started')), { bank: 0, files: 1 });
  t.strictSame(Object.fromEntries(figures.counts('exited')), { bank: 0, files: 1 });
  const seconds = Object.fromEntries([...figures.seconds()].map(([[server], histogram]) => [server, histogram.sum]));
  t.strictSame(seconds, { bank: 1.5, files: 0 });
  t.strictSame(
    [...figures.calls.entries()],
    [
      ['done', 1],
      ['denied', 1],
    ],
  );
});

t.test('servers are bounded, whatever they are called', async (t) => {
  const events = createBus();
  const figures = new ToolFigures(events);
  for (let index = 0; index < 1000; index += 1) events.emit('tool.called', call(`s${index}/x`));
  events.emit('tool.called', call('without'));
  const sent = Object.fromEntries(figures.counts('sent'));
  t.equal(Object.keys(sent).length, 201);
  t.equal(sent['other'], 801);
});
