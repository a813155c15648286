// Writes the published contract from the schemas that validate at run time. `--check` only says whether the file is fresh.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApiDocument } from '../transports/http/openapi.ts';
import { ROUTES } from '../transports/http/routes.ts';
import { asyncApiDocument } from '../transports/ws/asyncapi.ts';

const GENERATED: Readonly<Record<string, () => unknown>> = { 'openapi.json': () => openApiDocument(ROUTES), 'asyncapi.json': asyncApiDocument };

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const folder = process.argv.find((argument) => argument.startsWith('--folder='))?.slice('--folder='.length) ?? import.meta.dirname;
const checkOnly = process.argv.includes('--check');

for (const [name, build] of Object.entries(GENERATED)) {
  const path = join(folder, name);
  const text = `${JSON.stringify(build(), null, 2)}\n`;
  if (!checkOnly) writeFileSync(path, text);
  else if (textOf(path) !== text) {
    process.stderr.write(`${path} is not what the sources say; run \`npm run generate\`.\n`);
    process.exitCode = 1;
  }
}
