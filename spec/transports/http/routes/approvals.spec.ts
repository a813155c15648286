import t from 'tap';
import { openApiDocument } from '../../../../transports/http/openapi/openapi.ts';
import { APPROVAL_ROUTES } from '../../../../transports/http/routes/approvals.ts';
import { routesOf } from '../../../../transports/http/wire/route.ts';

interface Operation {
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
  readonly security?: readonly object[];
}
const paths = openApiDocument(routesOf(APPROVAL_ROUTES))['paths'] as Record<string, Record<string, Operation>>;

t.test('a decision can come late, second or for another call, and none of the routes is open', async (t) => {
  const post = paths['/api/approvals/{id}']?.['post'];
  t.match(post?.responses['409']?.description, 'APPROVAL_STALE');
  t.match(post?.responses['409']?.description, 'APPROVAL_DECIDED');
  t.match(post?.responses['404']?.description, 'APPROVAL_NOT_FOUND');
  for (const methods of Object.values(paths)) for (const { responses } of Object.values(methods)) t.ok(responses['401']);
});
