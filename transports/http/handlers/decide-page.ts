// The pages of decision links: HTML without a script, for people who come from a mail or a chat. Pure: no I/O.
//
// text-only: whatever a model or a server of tools has written is text here, never markup.
// all-shown: arguments are shown whole, and characters that hide or reorder text are written out, so that what is decided is what is seen.
import { createHash } from 'node:crypto';
import type { Approval, LinkDecided } from '../../../core/index.ts';

const STYLE = `
:root{color-scheme:light dark;--ground:#f6f7f9;--card:#fff;--line:#d5d9e0;--text:#1b1f27;--soft:#586072;--mark:#8a4b00;--mark-ground:#ffe9c7;--approve:#0b6b3a;--deny:#a3261b;--on:#fff}
@media(prefers-color-scheme:dark){:root{--ground:#12151b;--card:#1b2029;--line:#38404e;--text:#e9ecf2;--soft:#a5adbd;--mark:#ffd08a;--mark-ground:#4a3410;--approve:#5fd497;--deny:#ff9d93;--on:#10131a}}
*{box-sizing:border-box}
body{margin:0;padding:16px;background:var(--ground);color:var(--text);font:16px/1.5 system-ui,sans-serif}
main{max-width:46rem;margin:0 auto;padding:20px;background:var(--card);border:1px solid var(--line);border-radius:10px}
h1{margin:0 0 12px;font-size:1.3rem;line-height:1.3;overflow-wrap:anywhere}
h2{margin:20px 0 6px;font-size:1rem}
p{margin:8px 0}
.soft,dt{color:var(--soft)}
dl{display:grid;grid-template-columns:minmax(7rem,max-content) 1fr;gap:4px 16px;margin:0}
dd{margin:0;overflow-wrap:anywhere}
pre{max-height:60vh;margin:0;padding:12px;overflow:auto;background:var(--ground);border:1px solid var(--line);border-radius:6px;font:14px/1.45 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere}
mark{background:var(--mark-ground);color:var(--mark);border-radius:3px}
form{display:flex;flex-wrap:wrap;gap:12px;margin-top:20px}
button{flex:1 1 9rem;min-height:48px;padding:10px 16px;border:2px solid;border-radius:8px;background:transparent;font:inherit;font-weight:600;cursor:pointer}
.approve{color:var(--on);background:var(--approve);border-color:var(--approve)}
.deny{color:var(--deny);border-color:var(--deny)}
button:focus-visible,pre:focus-visible{outline:3px solid var(--text);outline-offset:2px}
@media(max-width:30rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:8px}}
`;
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** What every page of a link has: nothing runs, nothing is loaded, nobody frames it, and it says to nobody where it was. */
export const LINK_HEADERS = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-robots-tag': 'noindex, nofollow',
} as const;

const BECAUSE: Readonly<Record<Approval['because'], string>> = {
  rule: 'A rule of the block says so.',
  default: 'No rule of the block names this tool.',
  tainted: 'The call can send data out or change something, and its run has read from outside.',
  repeat: 'An equal call may have run before.',
  unknown: 'Nobody knows whether it ran.',
  input: 'Its server asks for input.',
};
const MARKS = { readOnly: 'reads only', idempotent: 'harmless to repeat', closedWorld: 'stays in a closed world' } as const;
const SHOWN_READS = 50;

/** The page with the two buttons. */
export function decisionPage(approval: Approval): string {
  const { block, tool, because, marks, readBefore, createdAt, expiresAt } = approval;
  const own = (Object.keys(MARKS) as (keyof typeof MARKS)[]).filter((name) => marks[name]).map((name) => MARKS[name]);
  const rest = readBefore.length > SHOWN_READS ? ` and ${readBefore.length - SHOWN_READS} more` : '';
  const rows: readonly (readonly [string, string])[] = [
    ['Asks because', text(BECAUSE[because])],
    ['Marks', own.length === 0 ? 'none: it may write, and send data out' : text(own.join(', '))],
    ['Read before', readBefore.length === 0 ? 'nothing' : `${readBefore.slice(0, SHOWN_READS).map(visible).join(', ')}${rest}`],
    ['Asked at', text(moment(createdAt))],
    ['Until', text(moment(expiresAt))],
  ];
  return page(
    'A call waits for your decision',
    `<h1>${visible(block)} wants to call ${visible(tool)}</h1>
<dl>${rows.map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`).join('')}</dl>
<h2>Arguments</h2>
<pre tabindex="0">${shownArguments(approval.arguments)}</pre>
<form method="post">
<button class="deny" name="decision" value="deny">Deny</button>
<button class="approve" name="decision" value="approve">Approve once</button>
</form>
<p class="soft">Nothing has been decided yet. This link decides once, about this call alone.</p>`,
  );
}

/** What was decided. */
export function decidedPage({ block, tool, decision }: LinkDecided): string {
  const done = decision === 'approve' ? 'Approved' : 'Denied';
  return page(done, `<h1>${done}: ${visible(tool)}</h1>\n<p>${visible(block)} goes on with that. You can close this page.</p>`);
}

/** What a person reads in place of an error body. */
export function problemPage(title: string, message: string): string {
  return page(title, `<h1>${text(title)}</h1>\n<p>${visible(message)}</p>`);
}

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${text(title)} · Blockhouse</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`;
}

/** all-shown. */
function shownArguments(value: object): string {
  const lines = JSON.stringify(value, null, 2).split('\n');
  return lines
    .map((line) => {
      const from = line.length - line.trimStart().length;
      return `${line.slice(0, from)}${visible(line.slice(from))}`;
    })
    .join('\n');
}

/** What is not seen, or is taken for a blank: control and format characters, fillers, variation selectors, other blanks; and long runs of blanks, which push text away. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}| {8,}/gu;

function visible(value: string): string {
  let shown = '';
  let from = 0;
  for (const { 0: hidden, index } of value.matchAll(HIDDEN)) {
    shown += `${text(value.slice(from, index))}<mark>${hidden.startsWith(' ') ? `[${hidden.length} blanks]` : escaped(hidden)}</mark>`;
    from = index + hidden.length;
  }
  return shown + text(value.slice(from));
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');
}

/** text-only. */
function text(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;');
}

/** Without a script, the time of the reader's place is not known. */
function moment(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`;
}
