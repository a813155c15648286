// Handlers of `/api/costs`, `/api/doctor` and `/api/halt`, which concern the whole workspace.
//
// one-report: of a large ledger, a report takes seconds of the processor and hundreds of megabytes, or a connection to the database for as long. Several at once would come to their ends
//   together, and nobody else would be served meanwhile.
import { OneAtATime } from '../../../core/base/one-at-a-time.ts';
import { type Core, type SetHalt, schemas } from '../../../core/index.ts';
import { OTHER_BODY_BYTES, readBytes, readJsonBody } from '../wire/body.ts';
import { queryChoice, queryNumber, queryValue } from '../wire/query.ts';
import { ok } from '../wire/reply.ts';
import type { RouteContext } from '../wire/route.ts';
import { accountsOf } from './keys.ts';

const GROUPS = ['connection', 'credential', 'model', 'day', 'day-connection', 'day-model'] as const;

/**
 * `{by, rows, total}` from the ledger of the blocks, by block, purpose or one of GROUPS; with `source=gateway` from that of the gateway, by key or one of GROUPS. `from`
 * and `to` are UTC days.
 */
export const costs = async ({ core, req, signal }: RouteContext) => {
  const source = queryChoice(req, 'source', ['blocks', 'gateway']);
  const [from, to] = ['from', 'to'].map((name) => queryValue(req, name));
  if (source === 'gateway') {
    const by = queryChoice(req, 'by', ['key', ...GROUPS, 'day-key']);
    const accounts = accountsOf(core);
    return ok(await reportsOf(core).run(() => accounts.costs(by, { from, to }), signal));
  }
  const by = queryChoice(req, 'by', ['block', ...GROUPS, 'purpose', 'day-block']);
  const block = queryValue(req, 'block');
  return ok(await reportsOf(core).run(() => core.blocks.costs({ by, block, from, to }), signal));
};

/** one-report: of all servers of a core. */
const reports = new WeakMap<Core, OneAtATime>();

function reportsOf(core: Core): OneAtATime {
  const line = reports.get(core) ?? new OneAtATime();
  reports.set(core, line);
  return line;
}

/** `{hits, total, complete, unreadable}`, the newest first. Ends when the client leaves. */
export const search = async ({ core, req, signal }: RouteContext) => {
  const [q = '', block] = ['q', 'block'].map((name) => queryValue(req, name));
  const limit = queryNumber(req, 'limit');
  return ok(await core.blocks.search({ q, ...(limit !== undefined && { limit }), ...(block !== undefined && { block }) }, { signal }));
};

/** `{connection, matched, differs}`: an export of a provider's bill beside all calls of a connection. Changes nothing. */
export const reconcile = async (context: RouteContext) => {
  const { core, req } = context;
  const query = { connection: queryValue(req, 'connection'), tolerance: queryValue(req, 'tolerance'), columns: queryValue(req, 'columns') };
  return ok(await core.reconcile(await readBytes(context, schemas.MAX_BILL_BYTES, 'text/csv'), query));
};

/** `{ok, checked, findings}`; changes nothing. */
export const doctor = async ({ core }: RouteContext) => ok(await core.check());

/** `{halted, since, reason}`. */
export const halted = ({ core }: RouteContext) => ok(core.blocks.halted());

/** Sets the kill switch; `{halted, since, reason}`. */
export const halt = async (context: RouteContext) => ok(await context.core.blocks.halt((await readJsonBody(context, OTHER_BODY_BYTES, true)) as SetHalt));

/** Releases the kill switch; `{halted, since, reason}`. */
export const unhalt = async ({ core }: RouteContext) => ok(await core.blocks.unhalt());
