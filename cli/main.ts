#!/usr/bin/env node
// `blockhouse`: runs the command of this process.
import { EXIT_CODES, errorCodeOf } from './exit-codes.ts';
import { runProgram } from './program.ts';
import { ReadableCli } from './usage.ts';

// A reader that has seen enough (`| head`) is no failure; a full disk is.
process.stdout.on('error', (error) => process.exit(errorCodeOf(error) === 'EPIPE' ? EXIT_CODES.ok.code : EXIT_CODES.unexpected.code));
// Where nobody listens to the talk, the work goes on.
process.stderr.on('error', () => undefined);

process.exitCode = await runProgram(process.argv.slice(2), ReadableCli.defaultContext);
