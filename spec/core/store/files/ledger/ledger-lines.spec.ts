import t from 'tap';
import { parseLine } from '../../../../../core/store/files/ledger/ledger-lines.ts';

const CALL = {
  at: '2026-11-20T14:03:22.123Z',
  block: 'alpha',
  provider: 'p',
  model: 'm',
  purpose: 'chat',
  usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
  costUsd: 0.5,
  messageId: null,
};
const CARRIED = { at: CALL.at, type: 'carried', from: 'alpha', block: 'beta' };

t.test('a line is read as it was written, with its unknown fields', async (t) => {
  for (const line of [CALL, { ...CALL, usage: null, costUsd: null, messageId: 'x', failed: true }, { ...CALL, costUsd: 0, later: [1] }, CARRIED]) {
    t.strictSame(parseLine(JSON.stringify(line)), line);
  }
});

t.test('a damaged line is undefined', async (t) => {
  const texts = ['', '{', 'null', '[]', '1', `${JSON.stringify(CALL)}}`, JSON.stringify(CALL).slice(0, -1)];
  for (const field of ['at', 'block', 'provider', 'model', 'purpose', 'usage', 'costUsd']) {
    texts.push(JSON.stringify({ ...CALL, [field]: undefined }), JSON.stringify({ ...CALL, [field]: [] }));
  }
  texts.push(JSON.stringify({ ...CALL, at: 'yesterday' }), JSON.stringify({ ...CALL, costUsd: -1 }), JSON.stringify({ ...CALL, costUsd: '1' }));
  texts.push(JSON.stringify(CALL).replace('0.5', '1e999'), JSON.stringify({ ...CALL, usage: { totalTokens: -1 } }), JSON.stringify({ ...CARRIED, from: 1 }));
  for (const text of texts) t.equal(parseLine(text), undefined, text);
});
