import t from 'tap';
import { ERROR_TABLE } from '../../../../core/index.ts';
import { BODY, body, DISK, errors, inPath, json, optional, READ, UPSTREAM, WRITE } from '../../../../transports/http/openapi/parts.ts';

const schema = { $ref: '#/components/schemas/Done' };

t.test('bodies and responses refer to a schema by its name', async (t) => {
  t.strictSame(json('Done', 'It is done.'), { description: 'It is done.', content: { 'application/json': { schema } } });
  t.strictSame(json('Done', 'It is done.', { etag: {} }), { description: 'It is done.', headers: { etag: {} }, content: { 'application/json': { schema } } });
  t.strictSame(body('Done'), { required: true, content: { 'application/json': { schema } } });
  t.strictSame(body('Done', false), { required: false, content: { 'application/json': { schema } } });
});

t.test('a parameter of the path is required, any other is not', async (t) => {
  t.match(inPath('name', 'A name'), { name: 'name', in: 'path', required: true, description: 'A name' });
  t.match(optional('query', 'by', { enum: ['a'] }, 'Why'), { name: 'by', in: 'query', required: false, schema: { enum: ['a'] } });
  t.match(optional('header', 'If-Match', {}, 'Why'), { in: 'header', required: false });
});

t.test('errors are one response for each status, in order, each code once', async (t) => {
  t.strictSame(Object.keys(errors()), ['401', '403', '429', '500']);
  const all = errors('BLOCK_NOT_FOUND', 'STORAGE_FULL', 'NOT_FOUND', 'BLOCK_NOT_FOUND', 'STORAGE_FAILED') as Record<string, { description: string }>;
  t.strictSame(Object.keys(all), ['401', '403', '404', '429', '500', '507']);
  const { meaning } = ERROR_TABLE.BLOCK_NOT_FOUND;
  t.equal(all['404']?.description, `\`BLOCK_NOT_FOUND\`: ${meaning}\n\`NOT_FOUND\`: ${ERROR_TABLE.NOT_FOUND.meaning}`);
  t.match(all['500']?.description, /^`STORAGE_FAILED`.*\n`INTERNAL_ERROR`/);
});

t.test('the groups of codes name each code once', async (t) => {
  for (const group of [BODY, UPSTREAM, READ, DISK]) t.equal(new Set<string>(group).size, group.length);
  t.strictSame([...new Set<string>(WRITE)].sort(), [...new Set<string>([...READ, ...DISK, 'WRONG_STATE'])].sort());
});
