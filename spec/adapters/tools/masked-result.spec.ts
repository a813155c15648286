import t from 'tap';
import { maskedCall, maskedResult } from '../../../adapters/tools/masked-result.ts';
import type { ListedTool } from '../../../adapters/tools/server.ts';
import type { OpenTask, ToolCallRequest } from '../../../core/index.ts';
import { sessionsRig } from '../../support/tools/sessions-rig.ts';
import { until } from '../../support/until.ts';

t.test('the secrets of a server are taken out of texts and of structured content, keys included, and nothing else changes', async (t) => {
  const secrets = ['hunter2hunter2', 's3cr3t.+s3cr3t'];
  const parts = [
    { type: 'text', text: 'a hunter2hunter2 b hunter2hunter2, s3cr3t.+s3cr3t' },
    { type: 'image', mediaType: 'image/png', data: 'aGVsbG8=' },
  ] as const;
  const outcome = {
    kind: 'result',
    isError: true,
    parts,
    ms: 3,
    structuredContent: { hunter2hunter2: ['s3cr3t.+s3cr3t', 5, null, { a: 'hunter2' }] },
  } as const;
  t.strictSame(maskedResult(outcome, secrets), {
    ...outcome,
    parts: [{ type: 'text', text: 'a [redacted] b [redacted], [redacted]' }, parts[1]],
    structuredContent: { '[redacted]': ['[redacted]', 5, null, { a: 'hunter2' }] },
  });
  t.equal(maskedResult(outcome, []), outcome);
});

t.test('of two secrets, of which one begins with the other, nothing of the longer one stays', async (t) => {
  const outcome = { kind: 'result', isError: false, parts: [{ type: 'text', text: 'hunter2-and-more' }], ms: 3 } as const;
  t.strictSame(maskedResult(outcome, ['hunter2', 'hunter2-and-more']), { ...outcome, parts: [{ type: 'text', text: '[redacted]' }] });
});

t.test('what a server asks a person has none of its secrets; the state that it wants back stays as it is', async (t) => {
  const requests = { ask: { method: 'elicitation/create', params: { message: 'Is hunter2hunter2 right?' } } };
  const question = { kind: 'input-required', requests, requestState: 'page 2', ms: 3 } as const;
  const masked = { ask: { method: 'elicitation/create', params: { message: 'Is [redacted] right?' } } };
  t.strictSame(maskedResult(question, ['hunter2hunter2']), { ...question, requests: masked });
});

t.test(
  'a state or an id of a task with a secret in it would be kept in the journal, and in exports of it: nobody is asked, and no task is waited for',
  async (t) => {
    const question = { kind: 'input-required', requests: {}, requestState: 'as hunter2hunter2, page 2', ms: 3 } as const;
    const text = 'The server wants a state back that has its own secret in it, which the journal would keep, so nobody is asked.';
    t.strictSame(maskedResult(question, ['hunter2hunter2']), { kind: 'result', isError: true, parts: [{ type: 'text', text }], ms: 3 });
    const kept: OpenTask[] = [];
    const request = { tool: 'x', onTask: async (task: OpenTask) => void kept.push(task) } as unknown as ToolCallRequest;
    const { onTask } = maskedCall(request, () => ['hunter2hunter2']);
    const task = { taskId: 'task-1', ttlMs: null, pollMs: 1, ageMs: 0 } as const;
    await onTask?.(task);
    await t.rejects(Promise.resolve(onTask?.({ ...task, taskId: 'hunter2hunter2-1' })), {
      code: 'TOOL_OUTCOME_UNKNOWN',
      message: /id has its own secret in it/,
    });
    t.match(kept, [{ taskId: 'task-1' }]);
    t.equal(kept.length, 1);
  },
);

t.test('a server that returns its own secret does not show it', async (t) => {
  const { hostile, call } = sessionsRig(t);
  const server = { ...hostile(), ownSecrets: ['hunter2hunter2'] };
  t.match(await call(server, 'echo', { text: 'It is hunter2hunter2.' }), { parts: [{ text: 'It is [redacted].' }] });
});

t.test('what a server says of its tools does not show its secret, when it is looked at and when it announces a change', async (t) => {
  const { hostile, call, sessions } = sessionsRig(t);
  const listed: (readonly ListedTool[])[] = [];
  sessions.onTools((_server, tools) => listed.push(tools));
  const server = { ...hostile({ describes: 'Asks postgres://me:hunter2hunter2@db, not hunter99.' }), ownSecrets: ['hunter2hunter2', 'hunter99'] };
  const clean = { description: 'Asks postgres://me:[redacted]@db, not hunter99.' };
  t.match((await sessions.look(server, new AbortController().signal)).tools[0], clean, 'a short word is not taken for it, since it may stand there by chance');
  await call(server, 'changed', { times: 1 });
  await until('the list has come', () => listed.length > 0);
  t.match(listed[0]?.[0], clean);
});

t.test('why a server does not list its tools is said without its secrets', async (t) => {
  const { hostile, call, sessions } = sessionsRig(t);
  const server = { ...hostile({ listFault: 'The token hunter2hunter2 is wrong' }, { idleStopMs: 50 }), secrets: ['hunter2hunter2'] };
  const problem = /^The tools of hostile can't be listed: The token \[redacted\] is wrong$/;
  await t.rejects(sessions.look(server, new AbortController().signal), { code: 'TOOL_SERVER_FAILED', message: problem });
  await call(server, 'changed', { times: 1 });
  await until('the list was refused, and the server has stopped', () => sessions.stateOf('hostile').problem !== undefined);
  t.match(sessions.stateOf('hostile').problem, problem);
});
