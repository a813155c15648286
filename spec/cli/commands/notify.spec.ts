import t from 'tap';
import { startReceiver } from '../../support/notify/receiver.ts';
import { openDesk } from '../run.ts';

t.test('a target is made with a secret that is shown once, listed, tried, replaced and removed', async (t) => {
  const { on } = await openDesk(t);
  const receiver = await startReceiver(t);
  t.match(await on(['notify', 'ls']), { code: 0, stdout: '', stderr: /^Nobody is notified\. For example: `.* notify set phone --url / });
  const made = await on(['notify', 'set', 'phone', '--url', `${receiver.url}/canary`]);
  t.match(made, {
    code: 0,
    stdout: /^whsec_\S+\n$/,
    stderr: /^phone hears of approval\.asked, message\.failed, cap\.reached\. The secret is shown this once\. `.* notify test phone.*` tries it\.\n$/,
  });
  t.match(await on(['notify', 'test', 'phone']), { code: 0, stderr: /^phone has taken it \(204, in \d+ ms\)\.\n$/ });
  t.match(receiver.received(made.stdout.trim()), [{ type: 'test' }]);
  t.match(await on(['notify', 'set', 'phone', '--url', receiver.url, '--event', 'message.done', '--block', 'team-*', '--block', 'ada']), {
    code: 0,
    stdout: '',
  });
  t.match(
    (await on(['notify', 'ls'])).stdout,
    /^TARGET +STATE +ADDRESS.*\nphone +on +http:\/\/127\.0\.0\.1:\d+ .*message\.done +team-\*, ada +no +0 +0 +never\n$/,
  );
  t.match(JSON.parse((await on(['notify', 'ls', '--json'])).stdout), { targets: [{ name: 'phone', links: false, blocks: ['team-*', 'ada'] }] });
  t.match(await on(['notify', 'set', 'phone', '--url', receiver.url, '--new-secret', '--links', '--public-url', 'https://b.example']), { stdout: /^whsec_/ });
  t.match(await on(['notify', 'rm', 'phone']), { code: 2, stderr: /Add --yes/ });
  t.match(await on(['notify', 'rm', 'phone', '--yes']), { code: 0, stderr: /^The target is removed/ });
  t.match(await on(['notify', 'test', 'phone']), { code: 2, stderr: /no target of notifications of this name/ });
});

t.test('what is wrong is said with its cure', async (t) => {
  const { on } = await openDesk(t);
  const receiver = await startReceiver(t, (_request, res) => void res.writeHead(503).end());
  t.match(await on(['notify', 'set', 'phone']), { code: 2, stderr: /--url or --url-stdin/ });
  t.match(await on(['notify', 'set', 'phone', '--url', 'http://push.example/']), { code: 2, stderr: /url must be https/ });
  t.match(await on(['notify', 'set', 'phone', '--url', receiver.url, '--links']), { code: 2, stderr: /publicURL is missing/ });
  t.match(await on(['notify', 'set', 'phone', '--url', receiver.url, '--event', 'all']), { code: 2, stderr: /events/ });
  t.match(await on(['notify', 'set', 'phone', '--url', receiver.url]), { code: 0 });
  t.match(await on(['notify', 'test', 'phone']), { code: 4, stderr: 'phone has not taken it: it answered 503.\n' });
});
