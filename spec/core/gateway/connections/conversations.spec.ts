// The conversations of a connection, and which of them are forgotten.
import t from 'tap';
import { CONVERSATION_MS, Conversations, MAX_CONVERSATIONS } from '../../../../core/gateway/connections/conversations.ts';

t.test('conversations are bounded: an old one is forgotten, and a client who makes many up loses its own', (t) => {
  const known = new Conversations<string>();
  for (let each = 0; each < 100; each += 1) known.add('key app', `${each}`, 'a', 0);
  for (let each = 0; each < MAX_CONVERSATIONS * 2; each += 1) known.add('key flood', `${each}`, 'b', 1);
  t.equal(known.size, MAX_CONVERSATIONS);
  for (let each = 0; each < 100; each += 1) t.equal(known.find('key app', `${each}`, 2)?.home, 'a');
  t.equal(known.find('key flood', '0', 2), undefined);
  t.equal(known.find('key flood', `${MAX_CONVERSATIONS * 2 - 1}`, 2)?.home, 'b');
  t.equal(known.find('key app', '0', 2 + CONVERSATION_MS), undefined);
  t.equal(known.find('key app', '1', 1 + CONVERSATION_MS)?.home, 'a', 'an hour after its last call');
  t.equal(known.find('token', '1', 1), undefined);
  known.forget((home) => home === 'b');
  t.equal(known.size, 99);
  t.end();
});

t.test('of one client, those go first that were not called for the longest time, to the minute', (t) => {
  const known = new Conversations<string>(3);
  for (const [at, id] of ['a', 'b', 'c'].entries()) known.add('token', id, id, at);
  known.find('token', 'a', 70_000);
  known.add('token', 'd', 'd', 70_001);
  t.same(
    ['a', 'b', 'c', 'd'].map((id) => known.find('token', id, 70_002)?.home),
    ['a', undefined, 'c', 'd'],
  );
  t.end();
});
