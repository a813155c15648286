import t from 'tap';
import { BODY, body, DISK, json, READ, UPSTREAM, WRITE } from '../../../../transports/http/openapi/parts.ts';

const schema = { $ref: '#/components/schemas/Done' };

t.test('bodies and responses refer to a schema by its name', async (t) => {
  t.strictSame(json('Done', 'It is done.'), { description: 'It is done.', content: { 'application/json': { schema } } });
  t.strictSame(json('Done', 'It is done.', { etag: {} }), { description: 'It is done.', headers: { etag: {} }, content: { 'application/json': { schema } } });
  t.strictSame(body('Done'), { required: true, content: { 'application/json': { schema } } });
  t.strictSame(body('Done', false), { required: false, content: { 'application/json': { schema } } });
});

t.test('the groups of codes name each code once', async (t) => {
  for (const group of [BODY, UPSTREAM, READ, DISK]) t.equal(new Set<string>(group).size, group.length);
  t.strictSame([...new Set<string>(WRITE)].sort(), [...new Set<string>([...READ, ...DISK, 'WRONG_STATE'])].sort());
});
