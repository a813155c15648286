import t, { type Test } from 'tap';
import { BlockhouseError } from '../../../core/errors.ts';
import type { ToolOutcome } from '../../../core/index.ts';
import { readFileTool } from '../../support/tools/fake-sessions.ts';
import { failure, FILES, serverRig } from '../../support/tools/server-rig.ts';

const signal = new AbortController().signal;
const SAID: ToolOutcome = { kind: 'result', isError: false, parts: [{ type: 'text', text: 'Hello' }], ms: 11.6 };

async function approvedRig(t: Test, settings: object = {}) {
  const rig = serverRig(t);
  rig.write({ mcpServers: { files: FILES }, blockhouse: { files: settings } });
  await rig.approve('files');
  const [tool] = (await rig.servers.get('files')).tools;
  return { ...rig, hash: tool?.hash ?? '' };
}

t.test('an approved tool is called once for a person, with the limits of its server, and the answer has its marks, time and size', async (t) => {
  const { servers, sessions, hash } = await approvedRig(t, { callTimeoutMs: 500, maxResultBytes: 2048, marks: { readOnly: ['read_*'] } });
  const image = { type: 'image', mediaType: 'image/png', data: 'aGVsbG8h' } as const;
  sessions.outcome = async () => ({ ...SAID, parts: [...SAID.parts, image], structuredContent: { a: 1 } });
  t.strictSame(await servers.call('files', { tool: 'read_file', hash, arguments: { path: '/a' } }, signal), {
    isError: false,
    text: 'Hello\n[image, image/png, 6 bytes]',
    structuredContent: { a: 1 },
    images: 1,
    ms: 12,
    bytes: JSON.stringify([...SAID.parts, image]).length,
    marks: { readOnly: true, idempotent: false, closedWorld: false },
  });
  t.match(sessions.called, [
    { server: 'files', tool: 'read_file', arguments: { path: '/a' }, pin: hash, timeoutMs: 500, maxBytes: 2048, callId: /^test\/\w{16}\/1\.1$/ },
  ]);
  t.equal(sessions.called.length, 1);
});

t.test('what is not approved, or does not fit its schema, is not called', async (t) => {
  const { servers, sessions, write, hash } = await approvedRig(t);
  const call = (body: object) => failure(servers.call('files', { tool: 'read_file', hash, arguments: { path: '/a' }, ...body }, signal));
  t.match(await call({ hash: 'f'.repeat(64) }), { code: 'TOOL_NOT_APPROVED', message: /tools diff files/ });
  t.match(await call({ tool: 'other' }), { code: 'TOOL_NOT_APPROVED' });
  t.match(await call({ arguments: {} }), { code: 'INVALID_REQUEST', message: /arguments.*required property 'path'/ });
  t.match(await call({ more: 1 }), { code: 'INVALID_REQUEST' });
  t.match(await failure(servers.call('gone', { tool: 'read_file', hash, arguments: {} }, signal)), { code: 'TOOL_SERVER_NOT_FOUND' });
  await servers.noteListed('files', [readFileTool({ description: 'Other.' })]);
  t.match(await call({}), { code: 'TOOL_NOT_APPROVED' }, 'it has changed since');
  write({ mcpServers: { files: { ...FILES, command: 'evil' } } });
  t.match(await call({}), { code: 'TOOL_NOT_APPROVED', message: /not the approved one any more/ });
  write({ mcpServers: { files: { ...FILES, url: 'x' } } });
  t.match(await call({}), { code: 'TOOL_NOT_APPROVED', message: /both command and url/ });
  t.strictSame(sessions.called, []);
});

t.test('the argument for the id of the call is filled; an outcome that is not known is said, and so is a call that was not made', async (t) => {
  const { servers, sessions, hash } = await approvedRig(t, { keyArguments: { read_file: 'path' } });
  const call = () => servers.call('files', { tool: 'read_file', hash, arguments: {} }, signal);
  t.match(await failure(call()), { code: 'TOOL_SERVER_FAILED', message: /^The tool was not called: Nothing is called here/ });
  sessions.outcome = async () => {
    throw new BlockhouseError('TOOL_OUTCOME_UNKNOWN', 'files has ended.');
  };
  t.match(await failure(call()), { code: 'TOOL_OUTCOME_UNKNOWN' });
  sessions.outcome = async () => SAID;
  t.match(await call(), { text: 'Hello' });
  t.ok(sessions.called.every(({ arguments: args, callId }) => args['path'] === callId));
  t.equal(new Set(sessions.called.map(({ callId }) => callId)).size, 3, 'each call has an id of its own');
});
