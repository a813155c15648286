import t from 'tap';
import { speedText, waitText } from '../../../cli/views/wait-text.ts';

const NOW = Date.parse('2026-11-22T12:00:00Z');

t.test('a message waits for its place, the model or its next attempt', async (t) => {
  t.equal(waitText({ status: 'queued' }, 2, NOW), 'in the queue behind 2');
  t.equal(waitText({ status: 'queued' }, 0, NOW), 'waiting for the model');
  t.equal(waitText({ status: 'processing' }, 0, NOW), 'waiting for the model');
  t.equal(waitText({ status: 'queued', nextAttemptAt: '2026-11-22T12:00:07.100Z' }, 0, NOW), 'retrying in 8 s');
  t.equal(waitText({ status: 'processing', nextAttemptAt: '2026-11-22T11:00:00Z' }, 0, NOW), 'waiting for the model');
});

t.test('the speed counts from the first token, and an unknown one is not shown', async (t) => {
  const usage = { inputTokens: 1, outputTokens: 1200, totalTokens: 1201 };
  t.equal(speedText({ usage, latencyMs: 25_000, ttftMs: 1000 }), '1,200 tokens in 25.0 s, 50.0 tokens/s');
  t.equal(speedText({ usage, latencyMs: 5, ttftMs: 5 }), '1,200 tokens in 0.0 s');
  t.equal(speedText({ usage: null, latencyMs: 5, ttftMs: 5 }), undefined);
});
