import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { launchdAgent, systemdUnit } from '../../../cli/serve/service-files.ts';

const COMMAND = ['/opt/node 24/bin/node', '/srv/block"house/main.js', 'serve', '--workspace', '/home/ada/100%/$HOME\\x', '--port', '8420'] as const;

t.test('a unit quotes each word, so that systemd expands nothing in it', async (t) => {
  const line = systemdUnit(COMMAND).match(/^ExecStart=(.*)$/m)?.[1];
  t.equal(line, '"/opt/node 24/bin/node" "/srv/block\\"house/main.js" "serve" "--workspace" "/home/ada/100%%/$$HOME\\\\x" "--port" "8420"');
});

t.test('a unit starts at login and after a failure, but not again with a wrong setting', async (t) => {
  const unit = systemdUnit(COMMAND);
  for (const line of ['Restart=on-failure', 'RestartPreventExitStatus=2', 'UMask=0077', 'WantedBy=default.target']) t.ok(unit.split('\n').includes(line), line);
});

const analyze = spawnSync('systemd-analyze', ['--version']).status === 0 ? {} : { skip: 'systemd-analyze is not installed' };
t.test('systemd-analyze finds nothing wrong with a unit', analyze, async (t) => {
  const folder = t.testdir();
  const file = join(folder, 'blockhouse.service');
  writeFileSync(file, systemdUnit([process.execPath, '/srv/100%/main.js', 'serve', '--workspace', '/home/ada/$HOME and "more"', '--port', '8420']));
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--user', '--man=no', file], {
    encoding: 'utf8',
    env: { ...process.env, XDG_RUNTIME_DIR: tmpdir() },
  });
  t.equal(stderr, '');
  t.equal(status, 0);
});

t.test('an agent escapes what XML would read', async (t) => {
  const agent = launchdAgent(['/a&b/node', '/c<d>/main.js', 'serve'], '/Users/ada/x&y.log');
  t.match(agent, '<string>/a&amp;b/node</string>\n    <string>/c&lt;d&gt;/main.js</string>\n    <string>serve</string>');
  t.match(agent, '<key>Umask</key>\n  <integer>63</integer>');
  t.match(agent, '<key>StandardErrorPath</key>\n  <string>/Users/ada/x&amp;y.log</string>');
});
