// What `key new`, `key set` and `key group set` share: the options for limits.
import { Option } from 'clipanion';
import { CliError } from '../terminal/exit-codes.ts';
import { oneLine } from '../terminal/output.ts';
import { ServerCommand } from './server-command.ts';

/** The value that lifts a limit. */
const NONE = 'none';

/** A command that sets limits. An option that is not given is undefined in them, and null stands for no limit. */
export abstract class LimitsCommand extends ServerCommand {
  usdPerDay = Option.String('--usd-per-day', { description: 'The most USD in a day' });
  usdPerWeek = Option.String('--usd-per-week', { description: 'The most USD in a week' });
  usdPerMonth = Option.String('--usd-per-month', { description: 'The most USD in a month' });
  tokensPerDay = Option.String('--tokens-per-day', { description: 'The most tokens, input and output, in a day' });
  tokensPerMonth = Option.String('--tokens-per-month', { description: 'The most tokens in a month' });
  inFlight = Option.String('--in-flight', { description: 'The most calls at the same time; further ones wait' });
  rpm = Option.String('--rpm', { description: 'The most requests a minute; further ones get 429' });
  tpm = Option.String('--tpm', { description: 'The most tokens a minute; further calls get 429' });
  unpriced = Option.String('--unpriced', { description: 'allow or refuse calls whose price is not known' });

  protected limits() {
    return {
      usdPerDay: amount(this.usdPerDay, '--usd-per-day'),
      usdPerWeek: amount(this.usdPerWeek, '--usd-per-week'),
      usdPerMonth: amount(this.usdPerMonth, '--usd-per-month'),
      tokensPerDay: amount(this.tokensPerDay, '--tokens-per-day'),
      tokensPerMonth: amount(this.tokensPerMonth, '--tokens-per-month'),
      inFlight: wholeNumber(this.inFlight, '--in-flight'),
      requestsPerMinute: wholeNumber(this.rpm, '--rpm'),
      tokensPerMinute: wholeNumber(this.tpm, '--tpm'),
      unpriced: choice(this.unpriced),
    };
  }
}

/** The text of an option whose value may be `none`. */
export function orNone<T>(text: string | undefined, read: (text: string) => T): T | null | undefined {
  if (text === undefined) return undefined;
  return text === NONE ? null : read(text);
}

function amount(text: string | undefined, option: string): number | null | undefined {
  return orNone(text, (given) => numberIn(given, option, (value) => value >= 0, `a number of 0 or more, or ${NONE}`));
}

function wholeNumber(text: string | undefined, option: string): number | null | undefined {
  return orNone(text, (given) => numberIn(given, option, (value) => Number.isSafeInteger(value) && value >= 1, `a whole number of 1 or more, or ${NONE}`));
}

function numberIn(text: string, option: string, isRight: (value: number) => boolean, what: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!Number.isFinite(value) || !isRight(value)) throw new CliError('usage', `${option} must be ${what}, not ${oneLine(text)}.`);
  return value;
}

function choice(text: string | undefined): 'allow' | 'refuse' | undefined {
  if (text === undefined || text === 'allow' || text === 'refuse') return text;
  throw new CliError('usage', `--unpriced must be allow or refuse, not ${oneLine(text)}.`);
}
