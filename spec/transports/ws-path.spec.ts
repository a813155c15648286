import type { IncomingMessage } from 'node:http';
import t from 'tap';
import { WS_PATH, wsTicket, wsToken } from '../../transports/ws-path.ts';

/** The token of a request with this query and these Authorization headers. */
function tokenOf(query: string, ...authorizations: string[]): string | undefined {
  const [authorization] = authorizations;
  const rawHeaders = authorizations.flatMap((value) => ['Authorization', value]);
  return wsToken({ url: `${WS_PATH}${query}`, rawHeaders, headers: { ...(authorization !== undefined && { authorization }) } } as unknown as IncomingMessage);
}

t.test('the token of a WebSocket is the one token in the query', async (t) => {
  const cases: [query: string, token: string | undefined][] = [
    ['', undefined],
    ['?', undefined],
    ['?Token=a', undefined],
    ['?token=a', 'a'],
    ['?other=1&token=bh%5Fa', 'bh_a'],
    ['?token=a&token=a', undefined],
  ];
  for (const [query, token] of cases) t.equal(tokenOf(query), token, query);
});

t.test('a Bearer header is used instead of the query, even a malformed one; headers of other schemes are not looked at', async (t) => {
  const cases: [authorizations: string[], query: string, token: string | undefined][] = [
    [['Bearer a'], '', 'a'],
    [['Bearer a'], '?token=b', 'a'],
    [['bearer  a'], '?token=b', 'a'],
    [['Bearer'], '?token=b', undefined],
    [['Bearer a c'], '?token=b', undefined],
    [['Bearer a', 'Bearer a'], '?token=b', undefined],
    [['Basic a'], '?token=b', 'b'],
    [['Bearers a'], '?token=b', 'b'],
  ];
  for (const [authorizations, query, token] of cases) t.equal(tokenOf(query, ...authorizations), token, `${authorizations.join(', ')} ${query}`);
});

t.test('a ticket is the one ticket in the query, and a token beside it wins', async (t) => {
  const ticketOf = (query: string, headers: Record<string, string> = {}): string | undefined =>
    wsTicket({ url: `${WS_PATH}${query}`, rawHeaders: Object.entries(headers).flat(), headers } as unknown as IncomingMessage);
  t.equal(ticketOf('?ticket=a'), 'a');
  for (const query of ['', '?Ticket=a', '?ticket=a&ticket=a', '?ticket=a&token=b']) t.equal(ticketOf(query), undefined, query);
  t.equal(ticketOf('?ticket=a', { authorization: 'Bearer b' }), undefined);
});
