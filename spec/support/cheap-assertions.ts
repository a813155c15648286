// Assertions about JSON and texts that hold are decided here. tap writes both values down for a report before it knows that nobody needs one: a comparison takes some ten times as
// long, and `t.notMatch` of a text of 20 KB takes 5 ms. What does not hold, or is in doubt, goes to tap, which judges and reports.
import { Assertions } from '@tapjs/asserts';
import { isSurelyMatch, isSurelySame } from './alike.ts';

type Assertion = (this: Assertions, found: unknown, wanted: unknown, ...rest: unknown[]) => boolean;

const hasNothingOf = (found: unknown, pattern: unknown): boolean =>
  typeof found === 'string' && pattern instanceof RegExp && !pattern.global && !pattern.sticky && !pattern.test(found);

/** By name: what decides, and what tap calls the assertion where a test says nothing. */
const CHEAP: readonly [name: 'same' | 'strictSame' | 'match' | 'notMatch', holds: (found: unknown, wanted: unknown) => boolean, title: string][] = [
  ['same', isSurelySame, 'should be equivalent'],
  ['strictSame', isSurelySame, 'should be equivalent strictly'],
  ['match', isSurelyMatch, 'should match pattern'],
  ['notMatch', hasNothingOf, 'should not match pattern'],
];

for (const [name, holds, title] of CHEAP) {
  const slow = Assertions.prototype[name] as Assertion;
  const cheap: Assertion = function (found, wanted, ...rest) {
    if (rest.length > 1 || typeof (rest[0] ?? '') !== 'string' || !holds(found, wanted)) return slow.call(this, found, wanted, ...rest);
    return this.ok(true, (rest[0] as string | undefined) ?? title);
  };
  Assertions.prototype[name] = cheap as never;
}
