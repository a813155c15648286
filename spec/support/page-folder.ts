// A small built page for tests of the server.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import type { Test } from 'tap';
import { testFolder } from './test-folder.ts';

export const INDEX = '<!doctype html><title>Blockhouse</title>';
export const SCRIPT = "console.log('a page');".repeat(100);

/** Writes a page, and beside it a file that its manifest does not name. */
export function pageFolder(t: Test): URL {
  const folder = testFolder(t);
  mkdirSync(join(folder, 'assets'), { recursive: true });
  writeFileSync(join(folder, 'index.html.br'), brotliCompressSync(INDEX));
  writeFileSync(join(folder, 'assets/main-ABC123.js.br'), brotliCompressSync(SCRIPT));
  writeFileSync(join(folder, 'assets/unnamed.txt'), 'SECRET');
  writeFileSync(join(folder, '.api-token'), 'SECRET');
  const assets = [
    { path: 'assets/main-ABC123.js', type: 'text/javascript; charset=utf-8', br: true },
    { path: 'index.html', type: 'text/html; charset=utf-8', br: true },
  ];
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ index: 'index.html', assets }));
  return pathToFileURL(`${folder}/`);
}
