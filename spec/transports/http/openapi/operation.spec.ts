import t from 'tap';
import { ERROR_TABLE } from '../../../../core/index.ts';
import { errorResponses, operationOf } from '../../../../transports/http/openapi/operation.ts';
import { body, json } from '../../../../transports/http/openapi/parts.ts';
import { ref } from '../../../../transports/http/openapi/schemas.ts';
import { ROUTES } from '../../../../transports/http/routes.ts';
import type { Route } from '../../../../transports/http/wire/route.ts';

interface Operation {
  readonly responses: Record<string, { readonly description: string; readonly content: Record<string, { readonly schema: object }> }>;
}

const route: Route = {
  method: 'POST',
  path: '/a/:id',
  id: 'doA',
  tag: 'Server',
  summary: 'Do it',
  description: 'Does it.',
  answers: { 200: json('Done', 'It is done.') },
  handler: () => ({ status: 200, body: {} }),
};
const operation = (more: Partial<Route>): Operation => operationOf({ ...route, ...more }) as Operation;

t.test('a route without parameters and body says no more than it has', async (t) => {
  t.strictSame(Object.keys(operationOf(route)), ['operationId', 'tags', 'summary', 'description', 'responses']);
  t.match(operationOf({ ...route, description: 'More.', public: true, body: body('SetHalt', false) }), {
    operationId: 'doA',
    description: 'More.',
    security: [],
    requestBody: { required: false },
  });
});

t.test('a parameter of the path is required, one of the query and a header are not', async (t) => {
  const words = { schema: { type: 'string' }, description: 'Why' };
  t.match(operation({ params: { id: 'An id' }, query: { by: words }, headers: { 'If-Match': words } }), {
    parameters: [
      { name: 'id', in: 'path', required: true, description: 'An id' },
      { name: 'by', in: 'query', required: false, ...words },
      { name: 'If-Match', in: 'header', required: false, ...words },
    ],
  });
});

t.test('every route may refuse a foreign Host and while the server drains, and may fail; one with a token may refuse that', async (t) => {
  for (const one of ROUTES) {
    const { responses } = operationOf(one) as Operation;
    t.match(responses['403']?.description, '`FORBIDDEN_ORIGIN`', one.id);
    t.match(responses['500']?.description, '`INTERNAL_ERROR`', one.id);
    t.match(responses['503']?.description, '`SHUTTING_DOWN`', one.id);
    // The way to a session key needs no token, and refuses a wrong one; health needs one for its deep look alone; a delivery has a signature.
    t.equal('401' in responses, !one.public || ['beginSession', 'gatewayHealth', 'deliver'].includes(one.id), one.id);
  }
});

t.test('errors are one response for each status, each code once', async (t) => {
  const all = errorResponses(['BLOCK_NOT_FOUND', 'STORAGE_FULL', 'NOT_FOUND', 'BLOCK_NOT_FOUND']);
  t.strictSame(Object.keys(all), ['404', '507']);
  const { meaning } = ERROR_TABLE.BLOCK_NOT_FOUND;
  t.equal(all['404']?.description, `\`BLOCK_NOT_FOUND\`: ${meaning}\n\`NOT_FOUND\`: ${ERROR_TABLE.NOT_FOUND.meaning}`);
});

t.test('a status that is an answer and an error has either body', async (t) => {
  const response = operation({ answers: { 503: json('VerifyResult', 'The probe failed.') } }).responses['503'];
  t.match(response?.description, /^The probe failed\.\n`SHUTTING_DOWN`/);
  t.strictSame(response?.content['application/json']?.schema, { anyOf: [ref('VerifyResult'), ref('ErrorReport')] });
});
