import t from 'tap';
import { controlURL, endpointProblem, profilePrefix, regionOf, runtimeURL, trustedOrigins } from '../../../adapters/bedrock/endpoints.ts';
import { settingsFrom } from './help.ts';

t.test('gotcha 10: the region is the request’s, then the stored one, AWS_REGION, AWS_DEFAULT_REGION, and us-east-1 at last', async (t) => {
  const env = { AWS_REGION: 'eu-west-1', AWS_DEFAULT_REGION: 'eu-west-2' };
  t.equal(regionOf(settingsFrom({ env, stored: { region: 'eu-west-3' }, config: { region: 'sa-east-1' } })), 'sa-east-1');
  t.equal(regionOf(settingsFrom({ env, stored: { region: 'eu-west-3' } })), 'eu-west-3');
  t.equal(regionOf(settingsFrom({ env })), 'eu-west-1');
  t.equal(regionOf(settingsFrom({ env: { AWS_DEFAULT_REGION: 'eu-west-2' } })), 'eu-west-2');
  t.equal(regionOf(settingsFrom()), 'us-east-1');
});

t.test('hosts follow from the region, in every partition', async (t) => {
  const host = (region: string) => runtimeURL(settingsFrom({ env: { AWS_REGION: region } }), '/x').hostname;
  t.equal(host('ap-southeast-2'), 'bedrock-runtime.ap-southeast-2.amazonaws.com');
  t.equal(host('us-gov-west-1'), 'bedrock-runtime.us-gov-west-1.amazonaws.com');
  t.equal(host('cn-north-1'), 'bedrock-runtime.cn-north-1.amazonaws.com.cn');
  t.equal(host('eusc-de-east-1'), 'bedrock-runtime.eusc-de-east-1.amazonaws.eu');
  t.equal(controlURL(settingsFrom({ env: { AWS_REGION: 'eu-west-1' } }), '/x').href, 'https://bedrock.eu-west-1.amazonaws.com/x');
});

t.test('configured endpoints replace the hosts, the special ones before the general one', async (t) => {
  const general = settingsFrom({ env: { AWS_ENDPOINT_URL: 'http://localhost:4566/base/' } });
  t.equal(runtimeURL(general, '/x').href, 'http://localhost:4566/base/x');
  t.equal(controlURL(general, '/x').href, 'http://localhost:4566/base/x');
  const special = settingsFrom({
    env: { AWS_ENDPOINT_URL: 'http://localhost:1', AWS_ENDPOINT_URL_BEDROCK_RUNTIME: 'http://localhost:2', AWS_ENDPOINT_URL_BEDROCK: 'http://localhost:3' },
  });
  t.equal(runtimeURL(special, '/x').href, 'http://localhost:2/x');
  t.equal(controlURL(special, '/x').href, 'http://localhost:3/x');
});

t.test('the two hosts of the region are its own; configured endpoints are not', async (t) => {
  for (const env of [{}, { AWS_ENDPOINT_URL_BEDROCK_RUNTIME: 'https://vpce.example/x' }])
    t.same(trustedOrigins(settingsFrom({ config: { region: 'eu-west-1' }, env })), [
      'https://bedrock-runtime.eu-west-1.amazonaws.com',
      'https://bedrock.eu-west-1.amazonaws.com',
    ]);
});

t.test('a stored region that would leave AWS is named, and makes no host trusted', async (t) => {
  for (const region of ['us-east-1.evil.example/', 'evil.example#', 'US-EAST-1', 'x', '', 'us-a-b-c-d-1', `aa${'-a'.repeat(4_750_000)}-1`]) {
    const settings = settingsFrom({ stored: { region: region || ' ' } });
    t.match(endpointProblem(settings), /region from auth\.json is not an AWS region/);
    t.same(trustedOrigins(settings), []);
  }
});

t.test('a stored endpoint that is no plain web URL is named with its source', async (t) => {
  for (const url of ['localhost:4566', 'file:///etc', 'http://user:pw@host', 'http://host/?a=b', 'http://host/#x']) {
    const settings = settingsFrom({ env: { AWS_ENDPOINT_URL_BEDROCK: url } });
    t.match(endpointProblem(settings), /controlEndpoint from env:AWS_ENDPOINT_URL_BEDROCK must be/, url);
  }
  t.equal(endpointProblem(settingsFrom({ env: { AWS_ENDPOINT_URL: 'https://host/path' } })), undefined);
});

t.test('profile prefixes follow from the region', async (t) => {
  const prefixes = {
    'us-west-2': 'us.',
    'us-gov-east-1': 'us-gov.',
    'eu-central-1': 'eu.',
    'ap-northeast-1': 'jp.',
    'ap-northeast-3': 'jp.',
    'ap-northeast-2': 'apac.',
    'ap-southeast-2': 'au.',
    'ap-southeast-4': 'au.',
    'ap-south-1': 'apac.',
    'sa-east-1': undefined,
  };
  for (const [region, prefix] of Object.entries(prefixes)) t.equal(profilePrefix(region), prefix, region);
});
