import t from 'tap';
import { settingFault } from '../../../core/auth/setting-fault.ts';

t.test('a value that can be stored has no fault', async (t) => {
  t.equal(settingFault('apiKey', 'sk-1', { secret: true }), undefined);
  t.equal(settingFault('baseURL', 'http://127.0.0.1:1', {}), undefined);
  t.equal(settingFault('region', 'eu-west-1', {}), undefined);
});

t.test('a fault names the field and never repeats the value', async (t) => {
  const cases: [string, string, object, RegExp][] = [
    ['apiKey', 'with space', { secret: true }, /not allowed in a key/],
    ['region', 'a\nb', {}, /one line of printable ASCII/],
    ['api', 'wrong', { oneOf: ['chat', 'responses'] }, /one of chat, responses/],
    ['baseURL', 'ftp://x', {}, /address such as/],
    ['endpoint', 'ftp://x', { address: true }, /address such as/],
    ['region', 'evil.com/#-1', {}, /region such as us-east-1/],
    ...['https://host/#part', 'https://host/?a=1', 'https://user@host', 'https://:word@host'].map((address): [string, string, object, RegExp] => [
      'baseURL',
      address,
      {},
      /without a user name, query or fragment/,
    ]),
  ];
  for (const [field, value, spec, text] of cases) {
    const fault = settingFault(field, value, spec) ?? '';
    t.match(fault, text);
    t.match(fault, new RegExp(`^${field} `));
    t.notOk(fault.includes(value));
  }
});
