import t from 'tap';
import { DATA, SCHEMAS } from '../../../core/gateway/request-data.ts';

t.test('no field of a conversation is data, and a schema at the top is one below it, too', async (t) => {
  for (const name of ['content', 'data', 'file', 'image_url', 'messages', 'output', 'source', 'tool', 'tools', 'url'])
    t.notOk(DATA.has(name) || SCHEMAS.has(name), name);
  t.ok(DATA.has('guided_json') && SCHEMAS.has('guided_json'));
});
