import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openDesk } from '../cli/run.ts';
import { noTerminal, openTerminal, type Terminal } from '../cli/terminal.ts';
import { DAEMON_END, daemonLine } from '../support/server.ts';
import { testFolder } from '../support/test-folder.ts';
import { type Answerer, startUpstream } from '../support/upstream.ts';

const skip = noTerminal;

/** Answers with what was sent, as JSON; `slow` is never answered. */
const echo: Answerer = ({ body }, res) => {
  const { messages } = JSON.parse(body) as { messages: { content: string }[] };
  res.writeHead(200, { 'content-type': 'application/x-ndjson' });
  const text = messages.at(-1)?.content ?? '';
  if (text !== 'slow') res.end(daemonLine(`got ${JSON.stringify(text)}`) + DAEMON_END);
  else res.flushHeaders();
};

/** A conversation with a model. */
async function modelTalk(t: Test, workspace: string): Promise<Terminal> {
  const { url } = await startUpstream(t, echo);
  const terminal = openTerminal(t, ['chat', '--adapter', 'ollama', '--model', 'm', '--workspace', workspace], { OLLAMA_BASE_URL: url });
  await terminal.shows(/ollama ›$/);
  return terminal;
}

t.test('pasted lines and lines between quotes are one message each', { skip }, async (t) => {
  const terminal = await modelTalk(t, testFolder(t));
  terminal.paste('one\n\n  two\n');
  await terminal.shows(/^ollama › one\n…\n… {3}two$/m);
  terminal.press('Enter');
  await terminal.shows(/^got "one\\n\\n {2}two"\n\nollama ›$|^got "one\\n\\n {2}two"\nollama ›$/m);
  terminal.type('"""');
  terminal.press('Enter');
  terminal.type('a');
  terminal.press('Enter');
  terminal.type('b"""');
  terminal.press('Enter');
  await terminal.shows(/^got "a\\nb"\nollama ›$/m);
  terminal.press('Up');
  await terminal.shows(/^ollama › a⏎b$/m);
  terminal.type('!');
  terminal.press('Enter');
  await terminal.shows(/^got "a\\nb!"\nollama ›$/m);
  terminal.type('/bye');
  terminal.press('Enter');
  await terminal.shows(/^ended with 0$/m);
});

t.test('the up arrow brings back messages of an earlier session, from a file that only its owner can read', { skip }, async (t) => {
  const workspace = testFolder(t);
  const first = await modelTalk(t, workspace);
  first.type('remember me');
  first.press('Enter');
  await first.shows(/^got "remember me"$/m);
  first.press('C-d');
  await first.shows(/^ended with 0$/m);
  const path = join(workspace, '.cli-history');
  t.equal(readFileSync(path, 'utf8'), '"remember me"\n');
  t.equal(statSync(path).mode & 0o777, 0o600);
  const second = await modelTalk(t, workspace);
  second.press('Up');
  await second.shows(/ollama › remember me$/);
  second.press('Enter');
  await second.shows(/^got "remember me"$/m);
});

t.test('Ctrl-C cancels an answer, then clears a typed line, then leaves', { skip }, async (t) => {
  const terminal = await modelTalk(t, testFolder(t));
  terminal.type('slow');
  terminal.press('Enter');
  await terminal.shows(/^\S \ds {2}waiting for the model$/m);
  terminal.press('C-c');
  await terminal.shows(/^note: the answer was cancelled\.\nollama ›$/m);
  terminal.type('draft');
  await terminal.shows(/ollama › draft$/);
  terminal.press('C-c');
  await terminal.shows(/ollama ›$/);
  terminal.press('C-c');
  await terminal.shows(/^ended with 0$/m);
});

t.test('a key that is typed at a hidden prompt is in no history', { skip }, async (t) => {
  const workspace = testFolder(t);
  const terminal = openTerminal(t, ['auth', 'set', 'anthropic', '--workspace', workspace]);
  await terminal.shows(/anthropic|key/i);
  terminal.type('a-secret-of-the-test');
  terminal.press('Enter');
  await terminal.shows(/ended with/);
  t.notMatch(terminal.screen(), 'a-secret');
  t.throws(() => statSync(join(workspace, '.cli-history')), { code: 'ENOENT' });
});

t.test('a block is talked with in the same way, and its conversation shows first', { skip }, async (t) => {
  const { on, workspace } = await openDesk(t, echo);
  await on(['new', 'ada', '--provider', 'ollama', '--model', 'm', '--start']);
  await on(['chat', 'ada', 'earlier']);
  const terminal = openTerminal(t, ['chat', 'ada', '--workspace', workspace]);
  await terminal.shows(/^got "earlier"\n[\s\S]*^Ctrl-C cancels a reply, .*\nada ›$/m);
  terminal.paste('one\ntwo');
  terminal.press('Enter');
  await terminal.shows(/^got "one\\ntwo"\nada ›$/m);
  terminal.type('/help');
  terminal.press('Enter');
  await terminal.shows(/^\/bye [\s\S]*it leaves\.\nada ›$/m);
  terminal.press('C-c');
  await terminal.shows(/^ended with 0$/m);
});

t.test('one question to a model shows how long it is waited for, and with -v how fast the answer was', { skip }, async (t) => {
  let finish = (): void => undefined;
  const { url, arrived } = await startUpstream(t, (request, res, index) => {
    finish = () => void echo(request, res, index);
  });
  const args = ['chat', '-v', '--adapter', 'ollama', '--model', 'm', '--workspace', testFolder(t), 'hi'];
  const terminal = openTerminal(t, args, { OLLAMA_BASE_URL: url });
  await terminal.shows(/^\S \ds {2}waiting for the model$/m);
  await arrived(0);
  finish();
  await terminal.shows(/^got "hi"\n2 tokens in \d+\.\d s.*\nended with 0$/);
  const quiet = openTerminal(t, args, { OLLAMA_BASE_URL: url, NO_COLOR: '1' });
  await arrived(1);
  finish();
  await quiet.shows(/^got "hi"\nended with 0$/);
});
