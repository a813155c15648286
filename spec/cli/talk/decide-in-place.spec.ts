// A person decides about calls that wait, at the prompt of a talk.
import { PassThrough } from 'node:stream';
import t from 'tap';
import { DecideInPlace } from '../../../cli/talk/decide-in-place.ts';
import { styleFor } from '../../../cli/terminal/output.ts';
import { approvalOf } from '../../support/tools/records.ts';

function place(...waiting: object[]) {
  const output = new PassThrough();
  let text = '';
  output.on('data', (chunk) => {
    text += String(chunk);
  });
  const decided: object[] = [];
  let over = 0;
  const api = {
    approvals: async () => waiting,
    decide: async (id: string, body: object) => {
      decided.push({ id, ...body });
      return { approval: { ...waiting.shift(), state: 'approved', decidedBy: { channel: 'cli', name: 'token' } } };
    },
  } as never;
  const decide = new DecideInPlace({
    api,
    block: 'ada',
    style: styleFor(false),
    output,
    onDecided: async () => {
      over += 1;
    },
  });
  return { decide, decided, output, text: () => text, over: () => over, say: async (word: string) => decide.commands[word]?.() };
}

const call = (id: string, more: object = {}) => ({
  ...approvalOf(id, { digest: `digest of ${id}`, arguments: { to: 'bob' }, ...more }),
  state: 'pending',
  scopes: ['once'],
});

t.test('no word is broken at the edge of the terminal', async (t) => {
  const desk = place(call('a1'));
  Object.assign(desk.output, { columns: 80 });
  await desk.decide.show();
  t.match(desk.text(), /^note: \/yes approves it once, \/always also later calls of this tool, \/no denies\r?\nit,/m);
});

t.test('as-shown: what is decided is what was shown, and then the next one is shown', async (t) => {
  const desk = place(call('a1'), call('a2'));
  await desk.say('/yes');
  t.strictSame(desk.decided, [], 'nothing was shown yet');
  t.match(desk.text(), /bank\/pay.*\n[\s\S]*to: "bob"[\s\S]*note: \/yes approves it once/);
  await desk.say('/always');
  t.strictSame(desk.decided, [{ id: 'a1', decision: 'approve', scope: 'always', digest: 'digest of a1' }]);
  t.equal(desk.over(), 0);
  await desk.say('/no');
  t.match(desk.decided[1], { id: 'a2', decision: 'deny', digest: 'digest of a2' });
  t.equal(desk.over(), 1, 'and the talk waits for the answer again');
  await desk.say('/show');
  t.match(desk.text(), /note: nothing waits for a decision\.\n$/);
});

t.test('of a call whose outcome is not known a person says what became of it', async (t) => {
  for (const [word, decision] of Object.entries({ '/ran': 'ran', '/not-ran': 'not-ran', '/tell': 'tell' })) {
    const desk = place(call('a1', { kind: 'unknown', because: 'unknown' }));
    t.equal(await desk.decide.show(), true);
    t.match(desk.text(), /It may have run[\s\S]*note: \/ran says that it ran/);
    await desk.say(word);
    t.match(desk.decided, [{ decision }]);
  }
});

t.test('what a server asks is answered field by field: each line is a value until the last one is there', async (t) => {
  const request = {
    who: {
      message: 'Who\u202e are you?',
      fields: [
        { name: 'name', type: 'string', isRequired: true, description: 'Your name' },
        { name: 'age', type: 'integer', isRequired: false, min: 18 },
        { name: 'mail', type: 'boolean', isRequired: false, default: true },
        {
          name: 'colour',
          type: 'choice',
          isRequired: true,
          options: [
            { value: '#f00', title: 'Red' },
            { value: '#00f', title: 'Blue' },
          ],
        },
      ],
    },
  };
  const desk = place(call('a1', { kind: 'input', because: 'input', request }));
  t.equal(await desk.decide.take('hello'), false, 'before that, a line is a message');
  await desk.decide.show(true);
  t.match(desk.text(), /The server bank asks: Who\\u202e are you\?/);
  t.match(desk.text(), /\? colour \(one of 1 Red \(#f00\), 2 Blue \(#00f\), required\)/);
  await desk.say('/yes');
  for (const line of ['Ada', '-', '', '2']) t.equal(await desk.decide.take(line), true);
  t.strictSame(desk.decided, [
    { id: 'a1', decision: 'approve', input: { who: { action: 'accept', content: { name: 'Ada', mail: true, colour: '#00f' } } }, digest: 'digest of a1' },
  ]);
  t.equal(await desk.decide.take('hello'), false);
});
