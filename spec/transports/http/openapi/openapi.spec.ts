import t from 'tap';
import { ERROR_TABLE } from '../../../../core/index.ts';
import { openApiDocument } from '../../../../transports/http/openapi/openapi.ts';
import { ROUTES } from '../../../../transports/http/routes.ts';

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
  readonly responses: Record<string, { readonly description?: string }>;
}

function operations(): Map<string, Operation> {
  const paths = openApiDocument(ROUTES)['paths'] as Record<string, Record<string, Operation>>;
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): [string, Operation] => [`${method.toUpperCase()} ${path}`, operation]),
    ),
  );
}

const served = new Map(ROUTES.map((route) => [`${route.method} ${route.path.replace(/:(\w+)\*?/g, '{$1}')}`, route]));

t.test('every route is in the document, and nothing else is', async (t) => {
  t.strictSame([...operations().keys()].sort(), [...served.keys()].sort());
});

t.test('the document asks for a token where the server does', async (t) => {
  for (const [name, operation] of operations()) t.strictSame(operation.security, served.get(name)?.public ? [] : undefined, name);
  t.match(openApiDocument(ROUTES)['security'], [{ token: [] }]);
});

t.test('every parameter of a path is described', async (t) => {
  for (const [name, { parameters }] of operations())
    t.strictSame(
      (parameters ?? []).filter((parameter) => parameter.in === 'path').map((parameter) => parameter.name),
      [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter),
      name,
    );
});

t.test('every operation has a short summary of its own and a description in sentences', async (t) => {
  const summaries = [...operations().values()].map(({ summary }) => summary);
  t.equal(new Set(summaries).size, summaries.length);
  for (const [name, { summary, description }] of operations()) {
    t.match(summary, /^[A-Z].{3,30}[^.]$/, name);
    t.match(description, /^[A-Z].*[.]$/, name);
  }
});

t.test('the document says who answers for it and under which license', async (t) => {
  t.match(openApiDocument(ROUTES), { info: { contact: { name: String }, license: { name: 'MIT', identifier: 'MIT' } } });
});

t.test('every operation has one tag, every tag has a description and operations', async (t) => {
  const tags = openApiDocument(ROUTES)['tags'] as { readonly name: string; readonly description: string }[];
  for (const { description } of tags) t.match(description, /^[A-Z].*[.]$/);
  for (const [name, operation] of operations()) t.equal(operation.tags.length, 1, name);
  t.strictSame(new Set([...operations().values()].flatMap((operation) => operation.tags)), new Set(tags.map(({ name }) => name)));
});

t.test('an operation that asks for a token can refuse it', async (t) => {
  // The way to a session key needs no token, and refuses a wrong one; health needs one for its deep look alone, and a delivery has a signature.
  for (const [name, { security, responses }] of operations())
    t.equal('401' in responses, security === undefined || ['POST /api/session', 'GET /v1/health', 'POST /api/hooks/{block}/{hook}'].includes(name), name);
});

t.test('the rules of HTTP are one response, which every operation has', async (t) => {
  for (const [name, { responses }] of operations()) t.strictSame(responses['default'], { $ref: '#/components/responses/Refused' }, name);
  t.match(openApiDocument(ROUTES), { components: { responses: { Refused: { description: /405.*408.*414.*431.*417/ } } } });
});

t.test('a refused token names its scheme, and a full queue the time to wait', async (t) => {
  for (const [name, { responses }] of operations()) {
    if ('401' in responses) t.match(responses['401'], { headers: { 'WWW-Authenticate': {} } }, name);
    if ('429' in responses) t.match(responses['429'], { headers: { 'Retry-After': {} } }, name);
  }
});

t.test('operation ids are unique, and every response of a status lists only codes of that status', async (t) => {
  const ids = [...operations().values()].map(({ operationId }) => operationId);
  t.equal(new Set(ids).size, ids.length);
  for (const [name, { responses }] of operations()) {
    for (const [status, { description }] of Object.entries(responses)) {
      for (const [, code] of (description ?? '').matchAll(/^`([A-Z_]+)`:/gm))
        t.equal(String(ERROR_TABLE[code as keyof typeof ERROR_TABLE].status), status, `${name} ${code}`);
    }
  }
});

t.test('two documents are equal, and neither is the other', async (t) => {
  t.strictSame(openApiDocument(ROUTES), openApiDocument(ROUTES));
  t.not(openApiDocument(ROUTES), openApiDocument(ROUTES));
});
