import t from 'tap';
import { TOOL_EXAMPLES } from '../../../../transports/http/openapi/examples-tools.ts';

t.test('a secret is only where it is given', async (t) => {
  const { ToolSecret, ...others } = TOOL_EXAMPLES;
  t.match(ToolSecret.value.value, /^ghp_/);
  t.notMatch(JSON.stringify(others), /ghp_/);
});

t.test('a package of an example has an exact version', async (t) => {
  t.match(JSON.stringify(TOOL_EXAMPLES.NewToolServer), /@\d{4}\.\d+\.\d+"/);
});
