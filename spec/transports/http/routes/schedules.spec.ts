import t from 'tap';
import { openApiDocument } from '../../../../transports/http/openapi/openapi.ts';
import { SCHEDULE_ROUTES } from '../../../../transports/http/routes/schedules.ts';
import { routesOf } from '../../../../transports/http/wire/route.ts';

interface Operation {
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}
const paths = openApiDocument(routesOf(SCHEDULE_ROUTES))['paths'] as Record<string, Record<string, Operation>>;

t.test('what names a schedule can say that there is none, and what changes one can meet a full disk', async (t) => {
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { responses }] of Object.entries(methods)) {
      t.match(responses['404']?.description, '`BLOCK_NOT_FOUND`', `${method} ${path}`);
      t.equal(/SCHEDULE_NOT_FOUND/.test(responses['404']?.description ?? ''), path.includes('{id}'), `${method} ${path}`);
      t.equal('507' in responses, method === 'post', `${method} ${path}`);
    }
});
