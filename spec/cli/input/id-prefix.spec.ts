import t from 'tap';
import { openDesk } from '../run.ts';

function commonStart(a: string, b: string): string {
  let same = 0;
  while (a[same] === b[same]) same += 1;
  return a.slice(0, same);
}

t.test('the unique beginning of an id is enough, wherever a command takes one', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama', '--model', 'm']);
  const first = (await on(['send', 'one', 'first'])).stdout.trim();
  const second = (await on(['send', 'one', 'second'])).stdout.trim();
  const shared = commonStart(first, second);
  const unique = first.slice(0, shared.length + 1);
  t.match(await on(['history', 'one', '--id', unique]), { code: 0, stdout: /first/ });
  t.match((await on(['history', 'one', '--since', unique])).stdout, /second/);
  t.match(await on(['queue', 'one', '--cancel', unique]), { code: 0 });
  t.match(await on(['queue', 'one', '--retry', unique]), { code: 0 });
  const fact = (await on(['memory', 'one', '--fact', 'It rains.'])).stdout.trim();
  t.match(await on(['memory', 'one', '--forget', fact.slice(0, -1)]), { code: 0 });

  for (const args of [
    ['history', 'one', '--id', shared],
    ['history', 'one', '--since', shared],
    ['queue', 'one', '--cancel', shared],
  ]) {
    const { code, stderr } = await on(args);
    t.equal(code, 2);
    t.match(stderr, /^blockhouse: .*2 ids begin with /);
    t.ok(stderr.includes(first) && stderr.includes(second), 'the candidates are listed');
  }
  t.match(await on(['history', 'one', '--id', 'zz']), { code: 2, stderr: /no message/i });
});

t.test('of many candidates the newest are listed', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama', '--model', 'm']);
  for (let count = 0; count < 7; count += 1) await on(['send', 'one', 'x']);
  t.match((await on(['queue', 'one', '--cancel', 'm'])).stderr, /^blockhouse: .*7 ids begin with m: (m\w{21}, ){5}and 2 older ones\. Give more of the id\.\n$/);
});
