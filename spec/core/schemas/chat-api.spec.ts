import t from 'tap';
import { AskAgain, HistoryPage, MAX_MESSAGE_CHARACTERS, PostMessage } from '../../../core/schemas/chat-api.ts';
import { SearchQuery } from '../../../core/schemas/workspace-api.ts';
import { refusedField } from '../../support/refused-field.ts';

t.test('a message is not empty and has a limit', async (t) => {
  t.equal(refusedField(PostMessage, { message: 'hi', clientId: '1' }), undefined);
  t.equal(refusedField(PostMessage, { message: '' }), 'message');
  t.equal(refusedField(AskAgain, {}), undefined, 'one that is asked again stays as it was');
  t.equal(refusedField(AskAgain, { message: '' }), 'message');
  t.equal(refusedField(PostMessage, { message: 'x'.repeat(MAX_MESSAGE_CHARACTERS + 1) }), 'message');
});

t.test('a page has 1 to 500 entries', async (t) => {
  t.equal(refusedField(HistoryPage, {}), undefined);
  t.equal(refusedField(HistoryPage, { limit: 500 }), undefined);
  for (const limit of [0, 501]) t.equal(refusedField(HistoryPage, { limit }), 'limit', String(limit));
});

t.test('a search has a text and returns 1 to 100 texts', async (t) => {
  t.equal(refusedField(SearchQuery, { q: 'x', limit: 100 }), undefined);
  for (const limit of [0, 101]) t.equal(refusedField(SearchQuery, { q: 'x', limit }), 'limit', String(limit));
  t.equal(refusedField(SearchQuery, {}), 'q');
});
