import t from 'tap';
import type { Finding, ToolHost } from '../../core/index.ts';
import { startCore } from '../support/blocks.ts';

t.test('the doctor asks the servers of tools, before the start and after it, and an error of theirs is an error', async (t) => {
  const findings: Finding[] = [{ severity: 'warning', place: 'mcp.json, files', problem: 'it is not approved', fix: 'Approve it.' }];
  const tools = { servers: { findings: async () => findings }, close: async () => undefined } as unknown as ToolHost;
  const { core } = await startCore(t, { tools, start: false });
  t.match(await core.check(), { ok: true, findings });
  await core.start();
  t.match(await core.check(), { ok: true, findings });
  findings.push({ severity: 'error', place: 'mcp.json', problem: 'it is empty', fix: 'Repair it.' });
  t.match(await core.check(), { ok: false, findings });
});

t.test('the doctor asks about skills, those of blocks only where they have folders', async (t) => {
  const asked: unknown[] = [];
  const finding: Finding = { severity: 'warning', place: 'skills/invoice', problem: 'it is new', fix: 'Read it.' };
  const findings = async (options: object) => {
    asked.push(options);
    return [finding];
  };
  const tools = { skills: { findings }, close: async () => undefined } as unknown as ToolHost;
  const { core } = await startCore(t, { tools, start: false });
  t.match(await core.check(), { ok: true, findings: [finding] });
  t.strictSame(asked, [{ blocks: true }]);
});

t.test('without a host of tools there is nothing to manage, and the doctor asks nobody', async (t) => {
  const { core } = await startCore(t);
  t.match(await core.check(), { ok: true });
  t.throws(() => core.toolServers(), { code: 'WRONG_STATE' });
});

t.test('a process that checks no certificates is reported', async (t) => {
  for (const [value, ok] of [
    ['0', false],
    ['1', true],
  ] as const) {
    const { core } = await startCore(t, { env: { NODE_TLS_REJECT_UNAUTHORIZED: value } });
    const report = await core.check();
    t.equal(report.ok, ok, value);
    t.same(
      report.findings.filter(({ place }) => place === 'environment').map(({ severity }) => severity),
      ok ? [] : ['error'],
    );
  }
});
