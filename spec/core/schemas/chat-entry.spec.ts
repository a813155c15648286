import t from 'tap';
import { ANSWER_STATUSES, ChatEntry, USER_STATUSES } from '../../../core/schemas/chat-entry.ts';
import { refusedField } from '../../support/refused-field.ts';

const entry = { id: 'm1', role: 'user', content: 'hi', timestamp: '2026-11-20T14:03:22.123Z', processed: false, status: 'queued', channel: 'cli' };

t.test('an entry has every field that the server writes', async (t) => {
  t.equal(refusedField(ChatEntry, entry), undefined);
  for (const field of Object.keys(entry)) t.equal(refusedField(ChatEntry, { ...entry, [field]: undefined }), field);
});

t.test('an entry may have any status of a message or of an answer', async (t) => {
  for (const status of [...USER_STATUSES, ...ANSWER_STATUSES]) t.equal(refusedField(ChatEntry, { ...entry, status }), undefined, status);
  t.equal(refusedField(ChatEntry, { ...entry, status: 'lost' }), 'status');
});
