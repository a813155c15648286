import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { FileSettings } from '../../../../core/store/files/settings.ts';
import type { SettingCodec, SettingName, SettingState } from '../../../../core/store/port.ts';

/** A number; 0 is stored as nothing. */
const NUMBER: SettingCodec<number> = {
  parse: (text = '0') => {
    if (!/^\d+$/.test(text)) throw new Error('it is not a number.');
    return Number(text);
  },
  format: (value) => (value === 0 ? undefined : String(value)),
};

function settingIn(t: Test, files: Parameters<Test['testdir']>[0], name: SettingName = 'models') {
  const clock = { ms: 0 };
  const settings = new FileSettings(t.testdir(files), () => clock.ms);
  const told: SettingState<number>[] = [];
  const setting = settings.open(name, NUMBER, (state) => void told.push(state));
  return { settings, setting, told, later: () => (clock.ms += 1000) };
}

t.test('a setting is answered from memory, and what is good stays while the file is damaged', async (t) => {
  const { setting, told, later } = settingIn(t, { 'models.json': '1' });
  t.same(told, [], 'nothing is looked at before it is needed');
  t.same(setting.now(), { good: 1, fault: undefined });
  writeFileSync(setting.place, 'x');
  t.equal(setting.now(), told[0], 'the same object until the next look');
  later();
  t.same(setting.now(), { good: 1, fault: 'it is not a number' });
  rmSync(setting.place);
  mkdirSync(setting.place);
  later();
  t.same(setting.now(), { good: 1, fault: 'it is not a regular file' });
  rmSync(setting.place, { recursive: true });
  later();
  t.same(setting.now(), { good: 0, fault: undefined });
  t.equal(told.length, 4);
});

t.test('an update is made from what is stored at this moment, and is known at once', async (t) => {
  const { setting } = settingIn(t, { 'models.json': '1' });
  setting.now();
  writeFileSync(setting.place, '5');
  const add = ({ good = 0 }: SettingState<number>) => good + 1;
  t.same(await Promise.all([setting.update(add), setting.update(add)]), [true, true]);
  t.same(setting.now(), { good: 7, fault: undefined });
  t.equal(readFileSync(setting.place, 'utf8'), '7');
  t.equal(await setting.update(() => undefined), false);
  t.equal(await setting.update(() => 0), true);
  t.equal(existsSync(setting.place), false, 'what stands for nothing is removed');
  writeFileSync(setting.place, 'x');
  await setting.update(({ fault }) => (fault === undefined ? undefined : 9));
  t.equal(setting.now().good, 9, 'a caller may replace what is damaged');
});

t.test('an update fails when something that is no file stands in the way', { timeout: 10_000 }, async (t) => {
  const { setting } = settingIn(t, { 'models.json': {} });
  await t.rejects(
    setting.update(() => 1),
    { code: /^E/ },
  );
  await t.rejects(
    setting.update(() => 0),
    { code: /^E/ },
  );
});

t.test('files with secrets are closed to others when they are used, and not when they are checked', async (t) => {
  for (const [name, file, mode] of [
    ['keys', 'keys.json', 0o600],
    ['token', '.api-token', 0o600],
    ['models', 'models.json', 0o644],
    ['halt', 'halted.json', 0o644],
  ] as const) {
    const { settings, setting, told } = settingIn(t, { [file]: '1' }, name);
    chmodSync(setting.place, 0o644);
    t.same(await settings.check(name, NUMBER), { good: 1, fault: undefined });
    t.equal(statSync(setting.place).mode & 0o777, 0o644, file);
    t.same(told, []);
    setting.now();
    t.equal(statSync(setting.place).mode & 0o777, mode, file);
  }
});
