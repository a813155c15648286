import type { IncomingMessage } from 'node:http';
import t from 'tap';
import { queryToken, WS_PATH } from '../../transports/ws-path.ts';

t.test('the token of a WebSocket is the one token in the query', async (t) => {
  const at = (query: string): string | undefined => queryToken({ url: `${WS_PATH}${query}` } as IncomingMessage);
  const cases: [query: string, token: string | undefined][] = [
    ['', undefined],
    ['?', undefined],
    ['?Token=a', undefined],
    ['?token=a', 'a'],
    ['?other=1&token=bh%5Fa', 'bh_a'],
    ['?token=a&token=a', undefined],
  ];
  for (const [query, token] of cases) t.equal(at(query), token, query);
});
