// A secret for each provider that a fault may bring to light. Pure: no I/O.

/** One secret each; none of them may be seen anywhere but in its file and at its provider. */
export const CANARIES = {
  openai: 'sk-canary-openai-4c1f0a7e9b',
  anthropic: 'sk-ant-canary-anthropic-77d2e1',
  google: 'AIza-canary-google-5e8b30c9f4',
  ollama: 'canary-ollama-91c6d0aa72f3',
  accessKeyId: 'AKIACANARYBEDROCK0001',
  secretAccessKey: 'canary/bedrock/secret/c0ffee2417',
} as const;

/** What auth.json holds: all providers at this URL, but for those that have one of their own in `baseURLs`. Bedrock's is set in the environment. */
export function canaryCredentials(url: string, baseURLs: Readonly<Record<string, string>> = {}): Record<string, Record<string, string>> {
  const { openai, anthropic, google, ollama, accessKeyId, secretAccessKey } = CANARIES;
  return {
    openai: { apiKey: openai, baseURL: baseURLs['openai'] ?? `${url}/v1` },
    anthropic: { apiKey: anthropic, baseURL: baseURLs['anthropic'] ?? url },
    google: { apiKey: google, baseURL: baseURLs['google'] ?? url },
    ollama: { apiKey: ollama, baseURL: baseURLs['ollama'] ?? url },
    bedrock: { region: 'us-east-1', accessKeyId, secretAccessKey },
  };
}

/** For a server with these credentials. */
export function canaryEnvironment(url: string): Record<string, string> {
  return { AWS_EC2_METADATA_DISABLED: 'true', AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url };
}
