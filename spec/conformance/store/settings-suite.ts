// The laws of the settings, over any store (core/store/port.ts).
import type { Test } from 'tap';
import type { SettingCodec, SettingName, SettingState, SettingStore } from '../../../core/store/port.ts';

/** A workspace whose settings two servers use. */
export interface SettingsWorld {
  readonly one: SettingStore;
  readonly other: SettingStore;
  /** Somebody writes a text, or removes it, without a store. */
  write(name: SettingName, text: string | undefined): Promise<void>;
  /** A second passes for both. */
  later(): Promise<void>;
}

/** A number; 0 is stored as nothing. */
export const NUMBER: SettingCodec<number> = {
  parse: (text = '0') => {
    if (!/^\d+$/.test(text)) throw new Error('it is not a number.');
    return Number(text);
  },
  format: (value) => (value === 0 ? undefined : String(value)),
};

const plus =
  (n: number) =>
  ({ good = 0 }: SettingState<number>): number =>
    good + n;

/** Every law as a fact. `open` makes a fresh workspace. */
export function settingsSuite(t: Test, store: string, open: (t: Test) => Promise<SettingsWorld>): void {
  t.test(`${store}: what is stored is answered at once, and is a second old at most`, async (t) => {
    const { one, write, later } = await open(t);
    await write('models', '1');
    await later();
    const told: SettingState<number>[] = [];
    const setting = one.open('models', NUMBER, (state) => void told.push(state));
    t.strictSame(told, [], 'nothing is told before it is needed');
    t.strictSame(setting.now(), { good: 1, fault: undefined });
    t.equal(setting.now(), told[0], 'the same object until it changes');
    await write('models', '2');
    await later();
    t.strictSame(setting.now(), { good: 2, fault: undefined });
    t.equal(told.length, 2);
    t.strictSame(await one.check('models', NUMBER), { good: 2, fault: undefined });
    t.ok(setting.place);
  });

  t.test(`${store}: the last good content stays in use while what is stored can't be used`, async (t) => {
    const { one, write, later } = await open(t);
    await write('halt', '1');
    await later();
    const setting = one.open('halt', NUMBER, () => undefined);
    setting.now();
    await write('halt', 'x');
    await later();
    t.strictSame(setting.now(), { good: 1, fault: 'it is not a number' });
    t.strictSame(await one.check('halt', NUMBER), { good: undefined, fault: 'it is not a number' });
    t.equal(await setting.update(({ fault }) => (fault === undefined ? undefined : 9)), true, 'a caller may replace it');
    t.strictSame(setting.now(), { good: 9, fault: undefined });
    await write('halt', undefined);
    await later();
    t.strictSame(setting.now(), { good: 0, fault: undefined });
  });

  t.test(`${store}: D1: a change is made from the newest content, whoever has written it`, async (t) => {
    const { one, other, write } = await open(t);
    await write('keys', '1');
    const [mine, theirs] = [one, other].map((each) => each.open('keys', NUMBER, () => undefined));
    t.strictSame(await Promise.all(Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? mine : theirs)?.update(plus(1)))), Array(8).fill(true));
    t.match(await one.check('keys', NUMBER), { good: 9 });
  });

  t.test(`${store}: D2: a change is known at once to who made it, and to all others a second later`, async (t) => {
    const { one, other, later } = await open(t);
    const told: (number | undefined)[] = [];
    const mine = one.open('keys', NUMBER, ({ good }) => void told.push(good));
    const theirs = other.open('keys', NUMBER, () => undefined);
    t.equal(theirs.now().good, 0);
    t.equal(await mine.update(plus(7)), true);
    t.equal(told.at(-1), 7, 'told before the change resolves');
    t.equal(mine.now().good, 7);
    await later();
    t.equal(theirs.now().good, 7);
    t.equal(await mine.update(() => undefined), false);
    t.equal(await mine.update(() => 0), true);
    t.equal(await mine.update(() => 0), true, 'nothing is removed twice');
    await later();
    t.equal(theirs.now().good, 0);
    await t.rejects(
      mine.update(() => {
        throw new Error('no');
      }),
      { message: 'no' },
    );
  });
}
