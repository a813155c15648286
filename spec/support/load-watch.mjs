// Preloaded with --import: writes into the file LOAD_WATCH each file that the process loads, and `announced` when it first writes to stdout.
import { appendFileSync } from 'node:fs';
import Module, { register } from 'node:module';

const file = process.env.LOAD_WATCH;
const note = (line) => appendFileSync(file, `${line}\n`);

const hooks = `
  import { appendFileSync } from 'node:fs';
  export function load(url, context, next) {
    if (!url.startsWith('node:')) appendFileSync(${JSON.stringify(file)}, url + '\\n');
    return next(url, context);
  }`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);

const loadCommonJs = Module._extensions['.js'];
Module._extensions['.js'] = (module, path) => {
  note(path);
  return loadCommonJs(module, path);
};

const write = process.stdout.write;
process.stdout.write = function announced(...args) {
  note('announced');
  process.stdout.write = write;
  return write.apply(this, args);
};
