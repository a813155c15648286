#!/usr/bin/env node
// `blockhouse`: runs the command of this process.
import { runProgram } from './main/program.ts';
import { ReadableCli } from './main/usage.ts';
import { EXIT_CODES, errorCodeOf } from './terminal/exit-codes.ts';

// A reader that closes the pipe (`| head`) is not a failure; a full disk is.
process.stdout.on('error', (error) => process.exit(errorCodeOf(error) === 'EPIPE' ? EXIT_CODES.ok.code : EXIT_CODES.unexpected.code));
// The work continues when stderr can't be written.
process.stderr.on('error', () => undefined);

process.exitCode = await runProgram(process.argv.slice(2), ReadableCli.defaultContext);
