import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { freePort } from '../../support/free-port.ts';
import { CLI, openDesk, run, runHere } from '../run.ts';
import { managerHome } from '../stand-in-managers.ts';

t.test('install writes a unit with absolute paths, starts it, and says what it did; status and uninstall follow', async (t) => {
  const { home, env, calls, pid } = managerHome(t);
  const port = String(await freePort());
  const workspace = join(home, 'my blocks');
  const file = join(home, '.config/systemd/user/blockhouse.service');
  const secret = 'sk-canary-0123456789abcdef';
  const options = { env: { ...env, OPENAI_API_KEY: secret, BLOCKHOUSE_DRAIN_MS: '0', BLOCKHOUSE_WORKSPACE: workspace } };

  const installed = await run(t, ['service', 'install', '--port', port], options);
  t.match(installed, { code: 0, stdout: `${file}\n` });
  t.match(installed.stderr, `Listens on http://127.0.0.1:${port}; starts at login`);
  t.match(
    installed.stderr,
    `Wrote a systemd user unit that runs\n  ${process.execPath} ${CLI} \\\n    serve --workspace '${workspace}' --host 127.0.0.1 --port ${port}\n`,
  );
  t.match(installed.stderr, 'journalctl --user -u blockhouse -f');
  t.match(installed.stderr, 'loginctl enable-linger');
  t.match(installed.stderr, /does not see OPENAI_API_KEY of this shell\. To store it:\n {2}.* auth set openai --field apiKey\n/);
  t.match(installed.stderr, /does not see BLOCKHOUSE_DRAIN_MS of this shell\. To set it:\n {2}systemctl --user edit blockhouse\n/);
  const unit = readFileSync(file, 'utf8');
  t.match(unit, `ExecStart="${process.execPath}" "${CLI}" "serve" "--workspace" "${workspace}" "--host" "127.0.0.1" "--port" "${port}"\n`);
  t.notMatch(unit + installed.stderr, secret);
  t.equal((await fetch(`http://127.0.0.1:${port}/v1/health`)).status, 200);
  t.same(
    calls().filter((call) => !/ (show|is-)/.test(call)),
    ['systemctl --user daemon-reload', 'systemctl --user enable blockhouse', 'systemctl --user restart blockhouse'],
  );

  const first = pid();
  const status = await runHere(t, ['service', 'status', '--json'], options);
  t.equal(status.code, 0);
  t.match(JSON.parse(status.stdout), { manager: 'systemd', file, installed: true, active: true, enabled: true });
  const ollamaPort = String(await freePort());
  const behind = ['--host', '0.0.0.0', '--allow-remote', '--public-origin', 'https://b.example.org'];
  const again = await run(t, ['service', 'install', '--port', port, '--ollama-port', ollamaPort, ...behind, '--json'], options);
  t.match(JSON.parse(again.stdout), { file, command: [process.execPath, CLI, 'serve'] }, 'a second install restarts it');
  t.not(pid(), first);
  const args = ['--host', '0.0.0.0', '--port', port, '--ollama-port', ollamaPort, '--public-origin', 'https://b.example.org', '--allow-remote'];
  t.same(JSON.parse(again.stdout).command.slice(-args.length), args);
  t.match(readFileSync(file, 'utf8'), `${args.map((arg) => `"${arg}"`).join(' ')}\n`);
  t.equal((await fetch(`http://127.0.0.1:${ollamaPort}/`)).status, 200);
  t.match(await runHere(t, ['service', 'install', '--port', port, '--host', '0.0.0.0'], options), { code: 2, stderr: /--allow-remote/ });
  t.match(await runHere(t, ['service', 'install', '--port', port, '--ollama-port', '0'], options), { code: 2, stderr: /--ollama-port, such as/ });

  const removed = await runHere(t, ['service', 'uninstall'], options);
  t.match(removed, { code: 0, stdout: '', stderr: `Stopped the service and removed its file:\n  ${file}\nThe workspace was kept.\n` });
  t.same(calls().slice(-2), ['systemctl --user disable --now blockhouse', 'systemctl --user daemon-reload']);
  t.equal(existsSync(file), false);
  t.equal(existsSync(join(workspace, '.api-token')), true);
  await t.rejects(fetch(`http://127.0.0.1:${port}/v1/health`));
  t.match(await runHere(t, ['service', 'status'], options), { code: 6, stdout: '', stderr: /No service is installed/ });
  t.match(await runHere(t, ['service', 'uninstall'], options), { code: 0, stderr: /No service is installed/ });
});

t.test('on macOS it is a launchd agent', async (t) => {
  const { home, env } = managerHome(t);
  const port = String(await freePort());
  const mac = `--import=data:text/javascript,${encodeURIComponent("Object.defineProperty(process, 'platform', { value: 'darwin' });")}`;
  const options = { env: { ...env, NODE_OPTIONS: mac } };
  const file = join(home, 'Library/LaunchAgents/blockhouse.plist');
  const installed = await run(t, ['service', 'install', '--port', port], options);
  t.match(installed, { code: 0, stdout: `${file}\n` });
  t.match(installed.stderr, `tail -f ${join(home, 'Library/Logs/blockhouse.log')}`);
  t.equal((await fetch(`http://127.0.0.1:${port}/v1/health`)).status, 200);
  t.match(await run(t, ['service', 'status'], options), { code: 0, stdout: /^state +running$/m });
  t.match(await run(t, ['service', 'uninstall'], options), { code: 0 });
  t.equal(existsSync(file), false);
});

t.test('without a systemd session nothing is written, and the output says what to do instead', async (t) => {
  const { home, env } = managerHome(t);
  writeFileSync(join(home, 'no-session'), '');
  for (const command of ['install', 'uninstall', 'status']) {
    const { code, stdout, stderr } = await runHere(t, ['service', command], { env });
    t.match({ code, stdout }, { code: 5, stdout: '' }, command);
    for (const hint of ['in a container', 'in WSL', 'nohup', 'There is no systemd user session here, so nothing was changed.']) t.match(stderr, hint);
    for (const line of stderr.split('\n').filter((line) => !line.includes('serve'))) t.ok(line.length <= 80, line);
  }
  t.equal(existsSync(join(home, '.config')), false);
});

t.test('a failure of systemctl is shown with its command', async (t) => {
  const { home, env } = managerHome(t);
  writeFileSync(join(home, 'fails'), 'enable');
  const { code, stderr } = await runHere(t, ['service', 'install'], { env });
  t.equal(code, 5);
  t.match(stderr, 'blockhouse: `systemctl --user enable blockhouse` failed: Access denied');
});

t.test('a server that runs already is not pushed aside', async (t) => {
  const { home, env } = managerHome(t);
  const { workspace } = await openDesk(t);
  const { code, stderr } = await runHere(t, ['service', 'install', '--workspace', workspace], { env });
  t.equal(code, 5);
  t.match(stderr, `A server is already running for ${workspace} (process ${process.pid})`);
  t.equal(existsSync(join(home, '.config')), false);
});

t.test('a service whose server ends at once is reported with the command that shows its log', async (t) => {
  const { env } = managerHome(t);
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => other.close());
  const { port } = other.address() as AddressInfo;
  const { code, stdout, stderr } = await run(t, ['service', 'install', '--port', String(port)], { env });
  t.match({ code, stdout }, { code: 6, stdout: '' });
  t.match(stderr, 'The service is installed, but its server is not running; the log says why: `journalctl --user -u blockhouse -f`.');
});

t.test('a port that changes at each start is refused', async (t) => {
  const { env } = managerHome(t);
  t.match(await runHere(t, ['service', 'install', '--port', '0'], { env }), { code: 2, stderr: /a fixed port/ });
});
