// What each field of a Messages request decides. Pure: no I/O.
import type { RequestFields } from '../../../../core/index.ts';
import { ADDRESS, FALLBACKS, SERVICE_FIELDS, SPENDS, UNSEEN } from '../shared/service-fields.ts';

/** Tools that the client runs itself, those of the server that cost nothing but counted tokens, and references to tools of the same request. What a page
 * costs is known only at the end of an answer, and its client may leave before that. */
const OWN_TOOLS = [
  'custom',
  'bash_*',
  'text_editor_*',
  'computer_*',
  'browser_toolset_*',
  'memory_*',
  'tool_search_tool_*',
  'tool_definition',
  'tool_reference',
  'mcp_tool_reference',
  'mcp_toolset_reference',
] as const;
/** Edits that only leave something out. The tokens of a summary are in the list of iterations alone, which is not read. */
const OWN_EDITS = ['clear_tool_uses_*', 'clear_thinking_*'] as const;
/** Changes of tools in the midst of a conversation. */
const TOOL_CHANGES = ['tool_addition', 'tool_removal'] as const;

/** The fields of `POST /v1/messages`, and of the count of its tokens. */
export const MESSAGES_FIELDS: RequestFields = {
  ...SERVICE_FIELDS,
  billing_policy: ADDRESS,
  compaction: SPENDS, // its tokens are in the list of iterations alone, too
  container: SPENDS,
  context_management: { decides: 'spends', members: ['edits'], types: OWN_EDITS },
  fallbacks: FALLBACKS, // what the models before the last one have used is not in the usage
  inference_geo: { decides: 'price', except: ['global'] },
  mcp_servers: SPENDS,
  messages: { decides: 'spends', types: [...OWN_TOOLS, ...TOOL_CHANGES], within: ['tool', 'tool_changes'] },
  service_tier: { decides: 'price', except: ['auto', 'standard_only'] },
  speed: { decides: 'price', except: ['standard'] },
  thread: UNSEEN,
  tools: { decides: 'spends', types: OWN_TOOLS },

  cache_control: 'answer',
  diagnostics: 'answer',
  fallback_credit_token: 'answer', // makes the call cheaper
  max_tokens: 'answer',
  metadata: 'answer',
  model: 'answer', // checked by itself, and replaced
  output_config: 'answer',
  output_format: 'answer',
  stop_sequences: 'answer',
  stream: 'answer',
  system: 'answer',
  temperature: 'answer',
  thinking: 'answer',
  tool_choice: 'answer',
  top_k: 'answer',
  top_p: 'answer',
};
