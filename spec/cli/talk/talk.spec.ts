import { PassThrough } from 'node:stream';
import t from 'tap';
import { HELP as BLOCK_HELP } from '../../../cli/talk/attach.ts';
import { HELP as MODEL_HELP } from '../../../cli/talk/model-talk.ts';
import { talk } from '../../../cli/talk/talk.ts';
import { CliError } from '../../../cli/terminal/exit-codes.ts';
import { styleFor } from '../../../cli/terminal/output.ts';

/** What a partner is sent for lines that a person types, and what the person sees. */
async function after(keys: string, terminal = true) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const sent: string[] = [];
  const send = async (text: string): Promise<void> => {
    sent.push(text);
    if (text === 'fails') throw new CliError('provider', 'It failed.');
    if (text === 'breaks') throw new TypeError('a defect');
  };
  const partner = { name: 'p', help: 'the help', commands: { '/own': () => send('(own)') }, send, interrupt: () => false };
  const view = { style: styleFor(false), isWatched: false, isVerbose: false };
  const talking = talk({ input, output, stdout: output, terminal, signal: new AbortController().signal, ...view }, partner, (error) =>
    error instanceof CliError ? error : undefined,
  );
  input.end(keys);
  return { kind: await talking, sent, shown: String(output.read() ?? '') };
}

t.test('one word behind a slash is a command; a path, a sentence and a comment are messages', async (t) => {
  const { sent, shown } = await after('/own \r/help\r/nope\r/usr/bin/x fails\r/etc\r//own\r// a comment\r/why not?\r/bye\rnever\r');
  t.same(sent, ['(own)', '/usr/bin/x fails', '/own', '// a comment', '/why not?']);
  t.match(shown, /the help\n[\s\S]*Unknown command; \/help lists the commands\.\n/);
});

t.test('several lines that begin with a slash are a message', async (t) => {
  t.same((await after('"""/own\r/own"""\r/quit\r')).sent, ['/own\n/own']);
});

t.test('without a terminal every line is a message, and the worst outcome is the result', async (t) => {
  t.match(await after('/own\nfails\n\nlast\n', false), { kind: 'provider', sent: ['/own', 'fails', 'last'], shown: 'blockhouse: It failed.\n' });
});

t.test('a failure is said and the talk goes on; a defect ends it', async (t) => {
  t.match(await after('fails\rlast\r'), { kind: 'ok', sent: ['fails', 'last'], shown: /blockhouse: It failed\.\n/ });
  await t.rejects(after('breaks\r'), new TypeError('a defect'));
});

t.test('the help fits a terminal of 80 columns', async (t) => {
  for (const help of [BLOCK_HELP, MODEL_HELP]) t.ok(help.split('\n').every((line) => line.length <= 80));
});
