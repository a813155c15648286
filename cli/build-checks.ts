// The first step of a build after the types: what `dist/checks` has. Source that runs by itself takes it from there too, so the specs of the core need no more of a build.
import { relative, resolve } from 'node:path';
import { writeChecks } from './checks.ts';

const OUT = resolve(import.meta.dirname, '../dist/checks');

process.stdout.write(`${relative(process.cwd(), OUT)}: ${await writeChecks(OUT)} files\n`);
