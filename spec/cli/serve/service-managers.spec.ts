import { execFile } from 'node:child_process';
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { serviceManager } from '../../../cli/serve/service-managers.ts';
import { argsForText } from '../../support/node-args.ts';
import { hasEnded, managerHome } from '../stand-in-managers.ts';

t.test('Linux has systemd, macOS has launchd, and no other system has a manager', async (t) => {
  const { home, env } = managerHome(t);
  t.match(serviceManager('linux', env), { id: 'systemd', file: join(home, '.config/systemd/user/blockhouse.service') });
  t.match(serviceManager('linux', { ...env, XDG_CONFIG_HOME: '/etc/mine' }), { file: '/etc/mine/systemd/user/blockhouse.service' });
  t.match(serviceManager('darwin', env), { id: 'launchd', file: join(home, 'Library/LaunchAgents/blockhouse.plist') });
  t.equal(serviceManager('win32', env), undefined);
});

t.test('systemd is not reachable without its command', async (t) => {
  const { home } = managerHome(t);
  t.equal(await serviceManager('linux', { HOME: home, PATH: home })?.isReachable(), false);
});

t.test('launchd stops the old process before it starts the new one, and forgets the service on uninstall', async (t) => {
  const { env, calls, pid } = managerHome(t);
  const manager = serviceManager('darwin', env);
  const command = [process.execPath, '-e', 'setInterval(String, 1000)'] as const; // which the file holds as it is
  await manager?.install(command);
  const first = pid();
  t.same(await manager?.state(), { active: true, enabled: true });
  await manager?.install(command);
  t.not(pid(), first);
  t.ok(hasEnded(first), 'the old process has ended');
  await manager?.uninstall();
  t.same(await manager?.state(), { active: false, enabled: false });
  t.equal(existsSync(manager?.file ?? ''), false);
  const session = `gui/${process.getuid?.()}`;
  const changes = calls().filter((call) => !call.includes(' print '));
  const start = `launchctl bootstrap ${session} ${manager?.file}`;
  t.same(changes, [start, `launchctl bootout ${session}/blockhouse`, start, `launchctl bootout ${session}/blockhouse`]);
});

/** Installs the service in a process with this umask. */
async function installWith(umask: number, platform: 'linux' | 'darwin', env: NodeJS.ProcessEnv): Promise<void> {
  const script = `
    process.umask(${umask});
    const { serviceManager } = await import('./cli/serve/service-managers.ts');
    await serviceManager('${platform}', process.env).install([process.execPath, '-e', 'setInterval(String, 1000)']);`;
  await promisify(execFile)(process.execPath, argsForText(script), { env, cwd: process.cwd() });
}

const modeOf = (path: string): number => statSync(path).mode & 0o777;

t.test('the file of a service and its folders are for its user alone, whatever the umask', async (t) => {
  const each = (['linux', 'darwin'] as const).flatMap((platform) => [0, 0o077].map((umask) => ({ platform, umask })));
  const check = async ({ platform, umask }: (typeof each)[number]): Promise<void> => {
    const { home, env } = managerHome(t);
    const manager = serviceManager(platform, env);
    await installWith(umask, platform, env);
    const file = manager?.file ?? '';
    t.equal(modeOf(file), 0o600, `${platform} ${umask}`);
    for (let folder = dirname(file); folder !== home; folder = dirname(folder)) t.equal(modeOf(folder), 0o700, folder);
    if (platform === 'darwin') t.equal(modeOf(join(home, 'Library/Logs/blockhouse.log')), 0o600);
    await manager?.uninstall();
  };
  await Promise.all(each.map(check));
});

t.test('a file that others could write is made anew, and its folder is closed to them', async (t) => {
  const { home, env } = managerHome(t);
  const manager = serviceManager('linux', env);
  const [file, folder] = [manager?.file ?? '', dirname(manager?.file ?? '')];
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, 'old');
  chmodSync(file, 0o666);
  chmodSync(folder, 0o777);
  chmodSync(join(home, '.config'), 0o755);
  const old = openSync(file, 'a');
  await installWith(0, 'linux', env);
  t.strictSame([modeOf(file), modeOf(folder), modeOf(join(home, '.config'))], [0o600, 0o755, 0o755]);
  writeSync(old, 'ExecStart=mine');
  closeSync(old);
  t.notMatch(readFileSync(file, 'utf8'), 'mine', 'who has the old one open can not write into the new one');
  await manager?.uninstall();
});
