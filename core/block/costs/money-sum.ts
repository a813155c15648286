// Sums of money that do not depend on the order in which they are made: doubles that are added in another order differ in their last digits. Pure: no I/O.
//
// exact: a cost counts in whole trillionths of a dollar, rounded as its decimal digits say. A database does the same, so both say the same of the same calls.
const DIGITS = 12;
const TRILLION = 10 ** DIGITS;
/** Below it, the product of a double and a trillion is off by less than a thousandth. */
const MOST_SURE = 2 ** 42;
const NEARLY_HALF = 0.49;
/** So that one more never makes it inexact. */
const MOST_SMALL = 2 ** 52;

/** What some calls have cost. */
export class MoneySum {
  #small = 0;
  #large = 0n;
  #isKnown = false;

  /** A cost that is finite and not negative. */
  add(usd: number): void {
    this.#isKnown = true;
    const product = usd * TRILLION;
    const nearest = Math.round(product);
    if (product < MOST_SURE && Math.abs(product - nearest) < NEARLY_HALF) this.#small += nearest;
    else this.#large += trillionthsOf(usd);
    if (this.#small < MOST_SMALL) return;
    this.#large += BigInt(this.#small);
    this.#small = 0;
  }

  /** A sum that was made elsewhere. */
  addTrillionths(count: bigint): void {
    this.#isKnown = true;
    this.#large += count;
  }

  /** Null if nothing was added. */
  get trillionths(): bigint | null {
    return this.#isKnown ? this.#large + BigInt(this.#small) : null;
  }

  /** In dollars; null if nothing was added. */
  get usd(): number | null {
    const { trillionths } = this;
    return trillionths === null ? null : Math.min(Number(`${trillionths}e-${DIGITS}`), Number.MAX_VALUE);
  }
}

/** exact. A half counts as a whole. */
export function trillionthsOf(usd: number): bigint {
  const [digits = '0', exponent = '0'] = usd.toExponential().split('e');
  const shift = DIGITS + Number(exponent) - Math.max(digits.length - '1.'.length, 0);
  const whole = BigInt(digits.replace('.', ''));
  if (shift >= 0) return whole * 10n ** BigInt(shift);
  const unit = 10n ** BigInt(-shift);
  return (whole + unit / 2n) / unit;
}
