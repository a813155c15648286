import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { serviceManager } from '../../cli/service-managers.ts';
import { managerHome } from './stand-in-managers.ts';

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
  const command = [process.execPath, '-e', 'setInterval(() => {}, 1000)'] as const;
  await manager?.install(command);
  const first = pid();
  t.same(await manager?.state(), { active: true, enabled: true });
  await manager?.install(command);
  t.not(pid(), first);
  t.throws(() => process.kill(first ?? 0, 0), 'the old process has ended');
  await manager?.uninstall();
  t.same(await manager?.state(), { active: false, enabled: false });
  t.equal(existsSync(manager?.file ?? ''), false);
  const session = `gui/${process.getuid?.()}`;
  const changes = calls().filter((call) => !call.includes(' print '));
  const start = `launchctl bootstrap ${session} ${manager?.file}`;
  t.same(changes, [start, `launchctl bootout ${session}/blockhouse`, start, `launchctl bootout ${session}/blockhouse`]);
});
