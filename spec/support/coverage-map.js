// A spec pays for the source file that it mirrors, and for no other; suites and judges pay for none.
import { existsSync } from 'node:fs';

export default (spec) => {
  const stem = spec.replace(/^spec\//, '').replace(/\.spec\.ts$/, '');
  // A long spec is split by topic: reply-faults.spec.ts is about reply.ts too.
  const source = [stem, stem.replace(/-[a-z]+$/, '')].map((name) => `${name}.ts`).find((path) => existsSync(path));
  return source ?? null;
};
