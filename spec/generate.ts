// Writes the files that are made from others: the published contract and core/types.ts from the schemas, the report of the public types from the
// declarations, and the page of the fields from the adapters. Names of files restrict it to these, `--folder` puts them elsewhere, and `--check` only says whether they are fresh.
import { generate } from './support/generated.ts';

const given = process.argv.slice(2);
const folder = given.find((argument) => argument.startsWith('--folder='))?.slice('--folder='.length);
const names = given.filter((argument) => !argument.startsWith('--'));

for (const path of await generate({ names, folder, checkOnly: given.includes('--check') })) {
  process.stderr.write(`${path} is not what the sources say; run \`npm run generate\`.\n`);
  process.exitCode = 1;
}
