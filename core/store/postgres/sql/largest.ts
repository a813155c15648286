// Sums that are larger than their column stay at the largest that it can hold. They would keep their line, and all after it, from being written. Pure: no I/O.

/** Of a sum in USD. Where `most` is null, there is no limit. */
export const usd = (sum: string, most = '999999999'): string => `least(${sum}, ${most})`;
/** Of a sum of tokens. */
export const tokens = (sum: string, most = '9000000000000000000'): string => `least(${sum}, ${most})`;
