// Watches a folder in a place where the system has no watches to give, writes into it, and says what was told.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderWatch } from '../../core/store/files/folder-watch.ts';
import { until } from './until.ts';

const folder = mkdtempSync(join(tmpdir(), 'watch-'));
writeFileSync(join(folder, 'old.json'), '{}');
const faults: string[] = [];
const told: string[] = [];
const watch = new FolderWatch(folder, { onFault: (_folder, error) => faults.push(String((error as NodeJS.ErrnoException).code)) });
watch.listeners.add((name) => told.push(name));
await until('the fault is told', () => faults.length > 0);
writeFileSync(join(folder, 'new.json'), '{}');
await until('the new file is told', () => told.includes('new.json'));
for (let n = 0; !told.includes('old.json'); n += 1) {
  writeFileSync(join(folder, 'old.json'), `{"n":${n}}`);
  await until('some time has gone', () => true);
  await new Promise((resolve) => setTimeout(resolve, 200));
}
await watch.close();
rmSync(folder, { recursive: true });
process.stdout.write(JSON.stringify({ faults, told }));
