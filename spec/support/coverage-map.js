// A spec pays for the source file that it mirrors, and for no other; suites and judges pay for none.
import { existsSync } from 'node:fs';

export default (spec) => {
  const source = spec.replace(/^spec\//, '').replace(/\.spec\.ts$/, '.ts');
  return existsSync(source) ? source : null;
};
