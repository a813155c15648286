import type { IncomingMessage } from 'node:http';
import t from 'tap';
import { withoutUpgrade } from '../../../transports/ws/hand-back.ts';

function headOf(rawHeaders: readonly [string, string][]): string {
  const req = { method: 'POST', url: '/a?b=c', httpVersion: '1.1', rawHeaders: rawHeaders.flat() } as unknown as IncomingMessage;
  return withoutUpgrade(req).toString('latin1');
}

t.test('the head is the same line for line, without the offer', async (t) => {
  const cases: [headers: [string, string][], lines: string][] = [
    [[], ''],
    [
      [
        ['Host', 'a'],
        ['Upgrade', 'h2c'],
        ['X', '\xe9 y'],
      ],
      'Host: a\r\nX: \xe9 y\r\n',
    ],
    [
      [
        ['Connection', 'Upgrade, HTTP2-Settings'],
        ['HTTP2-Settings', 'AAEAAQAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA'],
        ['upgrade', 'h2c'],
      ],
      '',
    ],
    [[['connection', 'keep-alive, Upgrade']], 'connection: keep-alive\r\n'],
    [[['Connection', 'close']], 'Connection: close\r\n'],
    [
      [
        ['Connection', 'upgrade'],
        ['Connection', 'close'],
      ],
      'Connection: close\r\n',
    ],
    [
      [
        ['Content-Length', '2'],
        ['Content-Length', '2'],
      ],
      'Content-Length: 2\r\nContent-Length: 2\r\n',
    ],
    [
      [
        ['X-Upgrade', 'h2c'],
        ['Authorization', ''],
      ],
      'X-Upgrade: h2c\r\nAuthorization: \r\n',
    ],
  ];
  for (const [headers, lines] of cases) t.equal(headOf(headers), `POST /a?b=c HTTP/1.1\r\n${lines}\r\n`, JSON.stringify(headers));
});
