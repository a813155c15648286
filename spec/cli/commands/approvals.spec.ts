import t from 'tap';
import type { ShownApproval, ToolOutcome } from '../../../core/index.ts';
import { pay } from '../../support/tools/calls.ts';
import { toolServer } from '../../support/tools/tool-server.ts';
import { runHere } from '../run.ts';

t.setTimeout(60_000);

async function desk(t: Parameters<typeof toolServer>[0]) {
  const server = await toolServer(t, { say: ({ results }) => (results.length === 0 ? [pay('bob')] : `Done: ${results.at(-1)}`) });
  await server.core.announce(server.url);
  const on = (...args: string[]) => runHere(t, [...args, '--workspace', server.workspace]);
  return { server, on };
}

t.test('what waits is listed, shown, approved by the beginning of its id, and its run is a timeline', async (t) => {
  const { server, on } = await desk(t);
  t.match(await on('approvals'), { code: 0, stdout: '', stderr: 'Nothing waits for you.\n' });
  const message = await server.post('Pay bob.');
  const [waiting] = await server.pending();
  const id = waiting?.id.slice(0, 9) ?? '';
  t.match(await on('approvals'), { code: 0, stdout: new RegExp(`${id} +ada +bank/pay`), stderr: new RegExp(`approve ${id}.*deny ${id}`) });
  t.match(await on('approvals', 'bob'), { code: 0, stdout: '' });
  t.match(await on('status'), { code: 0, stdout: /approvals +1 call waits for you; `.*approvals.*` lists it/ });
  t.match(await on('doctor'), { stdout: /a call of a tool waits for your decision/ });
  t.match(await on('approvals', '--id', id), { code: 0, stdout: /to: "bob"/ });
  t.match(JSON.parse((await on('approvals', '--json')).stdout), { approvals: [{ id: waiting?.id, digest: /./ }] });
  t.match(await on('approve', 'a', '--always', '--ran'), { code: 2, stderr: /Give one of/ });
  t.match(await on('approve', 'zzz'), { code: 2, stderr: /No call waits/ });
  t.match(await on('approve', id, '--ran'), { code: 2, stderr: /one of approve, deny/ });
  t.match(await on('approve', id, '--always'), { code: 0, stdout: '', stderr: /bank\/pay is approved by cli token, and a rule allows later calls/ });
  t.equal(await server.outcome(message), 'done');
  t.match((await server.core.blocks.config('ada')).tools, { allow: [{ tool: 'bank/pay', pin: 'pin-of-pay' }] });
  t.match(await on('approve', waiting?.id ?? ''), { code: 2, stderr: /decided already: approve/ });
  t.match(await on('run', 'ada', message.slice(0, -1)), { code: 0, stdout: /step 1 .*\n.*1\.1 bank\/pay.*\n.*waits for a person.*\n.*approve by cli token/ });
  t.match(JSON.parse((await on('run', 'ada', message, '--json')).stdout), { messageId: message, records: [{ t: 'run' }] });
  t.match(await on('run', 'ada', 'zzz'), { code: 2 });
});

t.test('a denial takes a note along', async (t) => {
  const { server, on } = await desk(t);
  const message = await server.post('Pay bob.');
  const [waiting] = await server.pending();
  const denied = await on('deny', waiting?.id.slice(0, 6) ?? '', '--note', 'Not on a Friday.', '--json');
  t.match(JSON.parse(denied.stdout), { approval: { state: 'denied', note: 'Not on a Friday.', decidedBy: { channel: 'cli' } } });
  await server.outcome(message);
  t.match((await server.core.blocks.history('ada')).at(-1)?.content, /Not on a Friday\./);
  t.strictSame(server.host.calls, []);
});

t.test('what a server asks is shown with its fields, and answered with --input', async (t) => {
  const { server, on } = await desk(t);
  const properties = { name: { type: 'string' }, age: { type: 'integer', minimum: 18 } };
  const requests = {
    who: { method: 'elicitation/create', params: { message: 'Who pays?', requestedSchema: { type: 'object', properties, required: ['name'] } } },
  };
  server.host.call = async ({ input }) =>
    (input === undefined
      ? { kind: 'input-required', requests, ms: 1 }
      : { kind: 'result', isError: false, parts: [{ type: 'text', text: JSON.stringify(input.responses) }], ms: 1 }) as ToolOutcome;
  const message = await server.post('Pay bob.');
  const [call] = await server.pending();
  await on('approve', call?.id ?? '');
  const [waiting] = await waitingFor(server, 'input');
  const id = waiting?.id ?? '';
  t.match(await on('approvals', '--id', id), {
    code: 0,
    stdout:
      /The server bank asks: Who pays\?\n {2}\? name \(text, required\)\n {2}\? age \(whole number, at least 18\)\nWhat you type goes to bank, and the journal of the block keeps it\. Type no secret\./,
  });
  t.match(await on('approve', id), { code: 2, stderr: /The server asks for something.*--input/ });
  t.match(await on('approve', id, '--input', '{"age": 3}'), { code: 2, stderr: /input\.who\.content\.name must be answered/ });
  t.match(await on('approve', id, '--input', 'Ada'), { code: 2, stderr: /--input is not valid JSON/ });
  t.match(await on('deny', 'zzz'), { code: 2 });
  t.match(await on('approve', id, '--input', '{"name": "Ada", "age": 20}'), { code: 0, stderr: /bank\/pay is approved by cli token/ });
  await server.outcome(message);
  t.match((await server.core.blocks.history('ada')).at(-1)?.content, /"content":\{"name":"Ada","age":20\}/);
  t.match(await on('run', 'ada', message), { stdout: /1\.1 bank\/pay asks a person: Who pays\?/ });
});

async function waitingFor({ core }: Awaited<ReturnType<typeof toolServer>>, kind: string): Promise<readonly ShownApproval[]> {
  for (;;) {
    const { approvals } = await core.blocks.approvals();
    const found = approvals.filter((one) => one.kind === kind);
    if (found.length > 0) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
