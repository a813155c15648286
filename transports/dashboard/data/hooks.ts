// The hooks of a block.
import type { HookList, HookView, SetHook } from '../../../core/types.ts';
import { call, get } from './http.ts';
import { blockURL } from './paths.ts';

export async function readHooks(name: string): Promise<HookList> {
  return get<HookList>(blockURL(name, '/hooks'));
}

/** Resolves with the secret if one was made. */
export async function setHook(name: string, id: string, body: SetHook): Promise<{ readonly hook: HookView; readonly secret?: string }> {
  return (await call<{ readonly hook: HookView; readonly secret?: string }>('PUT', blockURL(name, `/hooks/${encodeURIComponent(id)}`), { body })).data;
}

export async function removeHook(name: string, id: string): Promise<void> {
  await call('DELETE', blockURL(name, `/hooks/${encodeURIComponent(id)}`));
}

/** A command that delivers one text, signed with the secret. */
export function deliveryCommand({ style, path }: Pick<HookView, 'style' | 'path'>, secret: string, origin: string): string {
  const body = `body='{"text":"Hello."}'`;
  const send = `curl '${origin}${path}' -H 'content-type: application/json'`;
  if (style === 'github')
    return `${body}; signature=$(printf %s "$body" | openssl dgst -sha256 -hmac '${secret}' -r | cut -d' ' -f1); ${send} -H "x-hub-signature-256: sha256=$signature" -d "$body"`;
  const key = `key=$(printf %s '${secret.replace(/^whsec_/, '')}' | base64 -d | od -An -vtx1 | tr -d ' \\n')`;
  const signature = 'signature=$(printf %s "$id.$time.$body" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)';
  return `id=$(date +%s)-$$; time=$(date +%s); ${body}; ${key}; ${signature}; ${send} -H "webhook-id: $id" -H "webhook-timestamp: $time" -H "webhook-signature: v1,$signature" -d "$body"`;
}
