// Cases of agents that act, as facts: what a run does, what it leaves after a crash, and how it ends. spec/cases/tools-kill.spec.ts kills real processes.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { BlockhouseError } from '../../core/errors.ts';
import type { Prompt } from '../../core/gateway/prompt.ts';
import type { RunRecord } from '../../core/types.ts';
import { scriptedAdapter } from '../support/scripted-adapter.ts';
import { BANK } from '../support/tools/payment-host.ts';
import { hookJournals } from '../support/tools/journal-hooks.ts';
import { AT, answerRecord, callRecord, modelRecord, resultRecord, runRecord } from '../support/tools/records.ts';
import { crashedIn, kindsOf, pay, RULES, toolCore } from '../support/tools/tool-core.ts';
import type { Said, Seen } from '../support/tools/tool-model.ts';
import { until } from '../support/until.ts';

t.setTimeout(120_000);

/** Pays once, and then says what came of it. */
const payOnce = ({ results }: Seen): Said => (results.length === 0 ? [pay('bob')] : `I have paid: ${results[0]}`);
const BEGUN = [runRecord(), modelRecord(1)];

t.test('1: killed before the call record, a call runs once after the restart', async (t) => {
  const one = await toolCore(t, { say: payOnce, files: crashedIn([...BEGUN, answerRecord(1, [pay('bob')])]) });
  await one.blocks.start('ada');
  await one.outcome('m1');
  t.match(one.effects(), [{ pay: 'bob', callId: 'ada/m1/1.1' }]);
  t.equal(one.effects().length, 1);
  t.equal(one.upstream.requests.length, 1, 'the answer with the call is not asked for again');
});

t.test('2 and 3: killed after the call record, its outcome is unknown: it is not sent again, and the model and the reader learn it', async (t) => {
  const one = await toolCore(t, { say: payOnce, files: crashedIn([...BEGUN, answerRecord(1, [pay('bob')]), callRecord('1.1')]) });
  await one.blocks.start('ada');
  await one.outcome('m1');
  t.strictSame(one.effects(), []);
  t.match((await one.answerTo('m1'))?.steps, [{ call: '1.1', tool: 'bank/pay', outcome: 'unknown' }]);
  t.match((await one.answerTo('m1'))?.content, /The outcome of this call is not known: the server ended while it ran\. It may have taken effect/);
});

t.test('4: a repeatable tool runs again with its callId; with only the annotation, or only the mark, its outcome is unknown', async (t) => {
  const limit = { name: 'bank__set_limit', arguments: { limit: 7 } };
  const files = crashedIn([...BEGUN, answerRecord(1, [limit]), callRecord('1.1', 'set_limit')]);
  const say = ({ results }: Seen): Said => (results.length === 0 ? [limit] : 'Set.');
  const both = await toolCore(t, { say, files });
  await both.blocks.start('ada');
  await both.outcome('m1');
  t.match(both.effects(), [{ limit: 7, callId: 'ada/m1/1.1' }]);
  t.match(
    (await both.records('m1')).filter(({ t: kind }) => kind === 'call'),
    [{ try: 1 }, { try: 2 }],
  );
  for (const [half, bank] of Object.entries({
    annotation: { settings: { marks: { readOnly: ['*'] } } },
    mark: { tools: BANK.map((tool) => ({ ...tool, annotations: {} })) },
  })) {
    await t.test(`with only the ${half}`, async (t) => {
      const one = await toolCore(t, { say, files, bank });
      await one.blocks.start('ada');
      await one.outcome('m1');
      t.strictSame(one.effects(), []);
      t.match((await one.answerTo('m1'))?.steps, [{ outcome: 'unknown' }]);
    });
  }
});

t.test('4: a call that is cut off each time is sent three times at most, also over restarts', async (t) => {
  const limit = { name: 'bank__set_limit', arguments: { limit: 7, break: 'after' } };
  const say = ({ results }: Seen): Said => (results.length === 0 ? [limit] : 'Set.');
  const one = await toolCore(t, { say, files: crashedIn([...BEGUN, answerRecord(1, [limit]), callRecord('1.1', 'set_limit')]) });
  await one.blocks.start('ada');
  await one.outcome('m1');
  t.equal(one.effects().length, 2, 'after the one before the restart');
  t.match((await one.answerTo('m1'))?.steps, [{ outcome: 'unknown', preview: 'bank has ended' }]);
});

t.test('4: an argument that gets the id of the call makes a tool repeatable, and the model does not see it', async (t) => {
  const paid = { name: 'bank__pay_once', arguments: { to: 'bob', amount: 5, break: 'after' } };
  const one = await toolCore(t, { say: ({ results }) => (results.length === 0 ? [paid] : 'Paid.') });
  const id = await one.post('Pay bob.');
  await one.outcome(id);
  t.match(one.effects(), [{ key: `ada/${id}/1.1` }]);
  t.equal(one.effects().length, 1, 'although it was sent three times');
  t.equal(one.host.calls.length, 3);
  const shown = JSON.stringify(one.prompts()[0]?.tools?.find((tool) => JSON.stringify(tool).includes('pay_once')));
  t.notMatch(shown, /"key"/);
});

t.test('5: of three calls side by side each goes on by its own records', async (t) => {
  const calls = [pay('a'), pay('b'), { name: 'bank__list', arguments: {} }];
  const one = await toolCore(t, {
    say: ({ results }) => (results.length === 0 ? calls : results.join('|')),
    files: crashedIn([...BEGUN, answerRecord(1, calls), callRecord('1.1'), callRecord('1.2'), callRecord('1.3', 'list'), resultRecord('1.1')]),
  });
  await one.blocks.start('ada');
  await one.outcome('m1');
  t.strictSame(one.effects(), []);
  t.match((await one.answerTo('m1'))?.steps, [{ outcome: 'done' }, { outcome: 'unknown' }, { outcome: 'done', preview: 'No payments.' }]);
  t.strictSame(
    one.host.calls.map(({ tool }) => tool),
    ['list'],
    'only what reads is sent again',
  );
});

t.test('6: an answer that is in the journal, and not in the chat, is saved without a call of the model', async (t) => {
  const last = { ...answerRecord(2, []), text: 'All done.', stopReason: 'end_turn' } as RunRecord;
  const end = { t: 'end', at: AT, status: 'done', content: 'All done.', stopReason: 'end_turn' } as const;
  const one = await toolCore(t, {
    say: payOnce,
    files: crashedIn([...BEGUN, answerRecord(1, [pay('bob')]), callRecord('1.1'), resultRecord('1.1'), modelRecord(2), last, end]),
  });
  await one.blocks.start('ada');
  await one.outcome('m1');
  t.match(await one.answerTo('m1'), { content: 'All done.', stopReason: 'end_turn', run: 1, usage: { totalTokens: 30 }, steps: [{ outcome: 'done' }] });
  t.equal(one.upstream.requests.length, 0);
});

t.test('6: a message that a person had cancelled when its server was killed is cancelled, and what ran is told', async (t) => {
  const end = { t: 'end', at: AT, status: 'cancelled', code: 'CANCELLED' } as const;
  const one = await toolCore(t, { say: payOnce, files: crashedIn([...BEGUN, answerRecord(1, [pay('bob')]), callRecord('1.1'), resultRecord('1.1'), end]) });
  await one.blocks.start('ada');
  t.match(await one.outcome('m1'), { status: 'cancelled', error: null });
  t.match(await one.answerTo('m1'), { status: 'interrupted', content: /^The message was cancelled\. Before that, it had called:\n- bank\/pay .* ran/ });
  t.equal(one.upstream.requests.length, 0);
  t.same((await one.core.check()).findings, []);
});

t.test('6: a message that had failed when its server was killed has failed for the same cause', async (t) => {
  const end = { t: 'end', at: AT, status: 'failed', code: 'UPSTREAM_REJECTED' } as const;
  const one = await toolCore(t, { say: payOnce, files: crashedIn([...BEGUN, answerRecord(1, [pay('bob')]), callRecord('1.1'), resultRecord('1.1'), end]) });
  await one.blocks.start('ada');
  t.match(await one.outcome('m1'), { status: 'failed', error: { code: 'UPSTREAM_REJECTED', message: /^The message had failed, and its server ended/ } });
  t.equal(one.upstream.requests.length, 0);
});

t.test('7: a torn last line is ignored; a broken one in the middle is damage, with its place', async (t) => {
  const files = crashedIn([...BEGUN, answerRecord(1, [pay('bob')])]);
  const torn = await toolCore(t, { say: payOnce, files, start: false });
  const journal = torn.folder('ada', 'runs', 'm1.jsonl');
  appendFileSync(journal, '{"t":"call","call":"1.1","at":"2026');
  await torn.core.start();
  await torn.blocks.start('ada');
  await torn.outcome('m1');
  t.equal(torn.effects().length, 1);
  t.ok(
    readFileSync(journal, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .every((line) => JSON.parse(line)),
    'no half line is left',
  );
  await t.test('in the middle', async (t) => {
    const one = await toolCore(t, { say: payOnce, files, start: false });
    const path = one.folder('ada', 'runs', 'm1.jsonl');
    const lines = readFileSync(path, 'utf8').split('\n');
    writeFileSync(path, [lines[0], '{"t":"model","st', ...lines.slice(2)].join('\n'));
    await one.core.start();
    await one.blocks.start('ada');
    await one.inState('ada', 'failed');
    t.match((await one.blocks.explain('ada')).reason, { code: 'BLOCK_DAMAGED', message: /runs\/m1\.jsonl can't be used: .*line 2/ });
    t.strictSame(one.host.calls, []);
  });
});

for (const { code, says } of [
  { code: 'ENOSPC', says: 'STORAGE_FULL' },
  { code: 'EIO', says: 'STORAGE_FAILED' },
]) {
  t.test(`9: ${code} in the journal: nothing is called, the block waits in backoff, and pays once when the disk is well again`, async (t) => {
    let isBroken = true;
    const unhook = await hookJournals({
      onWrite: () => undefined,
      onSync: (text) => {
        if (isBroken && text.startsWith('{"t":"call"')) throw Object.assign(new Error(code), { code, syscall: 'fsync' });
      },
    });
    t.teardown(unhook);
    const one = await toolCore(t, { say: payOnce });
    const id = await one.post('Pay bob.');
    await one.inState('ada', 'backoff');
    t.match((await one.blocks.explain('ada')).reason, { code: says });
    t.strictSame(one.host.calls, []);
    t.match(await one.entry(id), { status: 'queued', attempts: 0 });
    t.notOk(kindsOf(await one.records(id)).includes('call 1.1'), 'what was refused is not there');
    isBroken = false;
    await one.blocks.start('ada');
    await one.outcome(id);
    t.equal(one.effects().length, 1);
    t.equal(one.upstream.requests.length, 2, 'the model is not asked again for the call');
  });
}

t.test('11: after a retry the model sees what was done, an equal call waits for a person, and no callId is used twice', async (t) => {
  let fails = true;
  const one = await toolCore(t, {
    say: ({ results, messages }) => {
      if (results.length === 0) return [pay('bob')];
      if (fails) return new Promise<never>(() => undefined);
      return messages.at(-1)?.content.startsWith('The user asks') ? [pay('bob')] : results.join('|');
    },
  });
  const id = await one.post('Pay bob.');
  await until('it has paid, and the model is silent', () => one.upstream.requests.length === 2);
  await one.blocks.cancel('ada', id);
  t.match(await one.entry(id), { status: 'cancelled', run: 1 });
  const told = await one.answerTo(id);
  t.match(told, {
    status: 'interrupted',
    content: /The message was cancelled\. Before that, it had called:\n- bank\/pay .* ran/,
    steps: [{ outcome: 'done' }],
  });
  fails = false;
  await one.blocks.retry('ada', id);
  await one.inState('ada', 'waiting-approval');
  const shown =
    one
      .prompts()
      .at(-1)
      ?.messages.map(({ role }) => role) ?? [];
  t.strictSame(shown.slice(-4), ['user', 'assistant', 'tool', 'user'], 'question, call, result, and that it was asked again');
  t.match(await one.entry(id), { status: 'waiting-approval' });
  const asked = (await one.records(id)).find(({ t: kind }) => kind === 'ask') as RunRecord & { t: 'ask' };
  t.match(asked, { call: '3.1', approval: { because: 'repeat', tool: 'bank/pay' } });
  await one.blocks.decide('ada', asked.approval.id, { decision: 'approve', digest: asked.approval.digest }, { channel: 'api', name: 'token' });
  await until('it is paid again', () => one.effects().length === 2);
  await one.outcome(id);
  t.strictSame(
    one.effects().map(({ callId }) => callId),
    [`ada/${id}/1.1`, `ada/${id}/3.1`],
  );
  t.match(await one.answerTo(id), { run: 2, steps: [{ call: '1.1' }, { call: '3.1', approvedBy: 'api:token' }] });
});

t.test('12: cancelled in a call, its outcome is unknown, and the chat names it', async (t) => {
  const one = await toolCore(t, { say: ({ results }) => (results.length === 0 ? [pay('bob', { answerAfterMs: 60_000 })] : 'Paid.') });
  const id = await one.post('Pay bob.');
  await until('it is paid', () => one.effects().length === 1);
  t.match((await one.blocks.explain('ada')).why, /It calls bank\/pay, step 1 of 25, since \d+ s\./);
  await one.blocks.cancel('ada', id);
  t.match(await one.entry(id), { status: 'cancelled' });
  t.match(await one.answerTo(id), { status: 'interrupted', content: /bank\/pay .* may have run: its outcome is not known/, steps: [{ outcome: 'unknown' }] });
});

t.test('a stop cuts a call off: its outcome is unknown, and the message goes on at the next start', async (t) => {
  const one = await toolCore(t, { say: ({ results }) => (results.length === 0 ? [pay('bob', { answerAfterMs: 60_000 })] : `So: ${results[0]}`) });
  const id = await one.post('Pay bob.');
  await until('it is paid', () => one.effects().length === 1);
  const stopped = one.blocks.stop('ada');
  await one.blocks.stop('ada'); // at once
  await stopped;
  t.match(await one.entry(id), { status: 'queued' });
  t.match((await one.records(id)).at(-1), { t: 'unknown', call: '1.1' });
  await one.blocks.start('ada');
  await one.outcome(id);
  t.match((await one.answerTo(id))?.content, /So: .*The outcome of this call is not known: it was cut off/);
  t.equal(one.effects().length, 1);
});

t.test('44: the same call again and again ends with an answer, in one order of its keys or another', async (t) => {
  let turn = 0;
  const one = await toolCore(t, {
    say: ({ messages }) => {
      if (messages.at(-1)?.content.startsWith('You have used all steps')) return 'I give up.';
      turn += 1;
      return [{ name: 'bank__set_limit', arguments: turn % 2 === 0 ? { limit: 1, amount: 2 } : { amount: 2, limit: 1 } }];
    },
  });
  const id = await one.post('Set it.');
  await one.outcome(id);
  t.match(await one.answerTo(id), {
    content: 'I give up.',
    steps: [{ outcome: 'done' }, { outcome: 'done' }, { outcome: 'same-call' }, { outcome: 'same-call' }],
  });
  t.equal(one.effects().length, 2);
});

t.test('44: two calls in turn end at the limit of steps, and a model that says nothing then fails with what ran', async (t) => {
  let turn = 0;
  const one = await toolCore(t, {
    rules: { ...RULES, limits: { steps: 4 } },
    say: ({ messages }) => {
      if (messages.at(-1)?.content.startsWith('You have used all steps')) return '';
      turn += 1;
      return [turn % 2 === 0 ? { name: 'bank__list', arguments: {} } : pay(`p${turn}`)];
    },
  });
  const id = await one.post('Go.');
  t.match(await one.outcome(id), { status: 'failed', error: { code: 'TOOL_LIMIT' } });
  t.match(await one.answerTo(id), { status: 'interrupted', content: /The message has failed: .*\nPrevious|bank\/pay/ });
  t.equal(one.upstream.requests.length, 5, 'four steps, and one to conclude');
});

t.test('44: errors of a tool go to the model, which answers', async (t) => {
  const one = await toolCore(t, { say: ({ results }) => (results.length === 0 ? [{ name: 'bank__fail', arguments: {} }] : `It said: ${results[0]}`) });
  const id = await one.post('Go.');
  await one.outcome(id);
  t.match(await one.answerTo(id), { content: /It said: .*The bank is closed\./s, steps: [{ outcome: 'done', isError: true }] });
});

t.test('44: wrong arguments, and a tool that is not there, are refused with what the model needs to know', async (t) => {
  const one = await toolCore(t, {
    say: ({ results }) =>
      results.length === 0
        ? [
            { name: 'bank__pay', arguments: { to: 5, amount: 5 } },
            { name: 'nothing', arguments: {} },
          ]
        : results.join('\n'),
  });
  const id = await one.post('Go.');
  await one.outcome(id);
  t.match(await one.answerTo(id), {
    content: /\/to must be string[\s\S]*The tools are bank__fail, bank__list/,
    steps: [{ outcome: 'invalid-arguments' }, { outcome: 'not-offered' }],
  });
  t.strictSame(one.host.calls, []);
});

t.test('45: a cap in mid-run pauses the block; the run goes on at the same step, and the ledger equals the calls', async (t) => {
  const one = await toolCore(t, {
    config: { budget: { dailyTokens: 20_000 }, adapter: { provider: 'ollama', model: 'm', maxTokens: 100 } },
    say: ({ results }, index) => (results.length < 6 ? [pay(`p${index}`)] : 'Done.'),
  });
  await one.blocks.start('ada');
  let isLow = false;
  one.core.events.on('call.finished', () => {
    if (isLow || one.upstream.requests.length < 4) return;
    isLow = true;
    void one.blocks.updateConfig('ada', { budget: { dailyTokens: 100 } });
  });
  const id = await one.post('Pay six.');
  await one.inState('ada', 'paused');
  const before = one.effects().length;
  t.ok(before >= 3 && before < 6, `${before} were paid before the cap`);
  await one.blocks.updateConfig('ada', { budget: { dailyTokens: null } });
  await one.outcome(id);
  t.equal(new Set(one.effects().map(({ pay: to }) => to)).size, 6);
  t.equal(one.effects().length, 6);
  const ledger = readFileSync(`${one.workspace}/ledger.jsonl`, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { step: number });
  t.strictSame(
    ledger.map(({ step }) => step),
    [1, 2, 3, 4, 5, 6, 7],
  );
  t.equal(one.upstream.requests.length, 7);
});

t.test('48: a fallback in mid-run sees whole pairs, and none of the state of the first model', async (t) => {
  const prompts: Prompt[] = [];
  const model = (id: string) =>
    scriptedAdapter(
      {
        chat: ({ prompt, sink }) => {
          prompts.push(prompt);
          const made = prompt.turns.filter(({ role }) => role === 'tool').length;
          if (id === 'first' && made === 3) throw new BlockhouseError('UPSTREAM_REJECTED', 'No such model.', { upstreamStatus: 404 });
          const state = { [id]: { signature: `${id}-${made}` } };
          const toolCall = { id: `call_${made}`, name: 'bank__pay', arguments: { to: `p${made}`, amount: 1 }, providerMetadata: state };
          if (made < 4)
            sink.emit([
              { type: 'toolCall', toolCall },
              { type: 'providerMetadata', providerMetadata: state },
              { type: 'stop', stopReason: 'tool_use' },
            ]);
          else
            sink.emit([
              { type: 'text', text: 'Done.' },
              { type: 'stop', stopReason: 'end_turn' },
            ]);
        },
      },
      id,
    );
  const config = { adapter: { provider: 'first', model: 'm' }, fallbacks: [{ provider: 'second', model: 'm' }] };
  const one = await toolCore(t, { config, say: () => '', adapters: [model('first'), model('second')] });
  const id = await one.post('Pay four.');
  await one.outcome(id);
  t.match(await one.answerTo(id), { content: 'Done.', provider: 'second' });
  t.strictSame(
    one.effects().map(({ pay: to }) => to),
    ['p0', 'p1', 'p2', 'p3'],
  );
  const states = (prompt: Prompt | undefined) =>
    prompt?.turns.flatMap((turn) => (turn.role === 'assistant' ? [turn.toolCalls[0]?.providerMetadata, turn.providerMetadata] : [])) ?? [];
  const [seenByFirst, seenBySecond, , atEnd] = prompts.slice(3, 6).concat(prompts.slice(5)) as [Prompt, Prompt, Prompt, Prompt];
  t.equal(states(seenByFirst).filter((state) => state?.['first'] !== undefined).length, 6, 'the first model gets its own');
  t.strictSame(
    states(seenBySecond),
    Array.from({ length: 6 }, () => undefined),
  );
  t.strictSame(
    seenBySecond.turns.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'assistant', 'tool', 'assistant', 'tool'],
  );
  t.equal(states(atEnd).filter((state) => state?.['second'] !== undefined).length, 2);
  t.notMatch(JSON.stringify(states(atEnd)), /first/);
});
