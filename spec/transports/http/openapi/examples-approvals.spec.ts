import t from 'tap';
import { APPROVAL_EXAMPLES } from '../../../../transports/http/openapi/examples-approvals.ts';

t.test('the examples show one call, before and after its decision', async (t) => {
  const [waiting] = APPROVAL_EXAMPLES.Approvals.value.approvals;
  t.match(waiting, { state: 'pending', scopes: ['once'] });
  t.equal(APPROVAL_EXAMPLES.Approve.value.digest, waiting?.digest);
  t.match(APPROVAL_EXAMPLES.Approved.value.approval, { id: waiting?.id, state: 'approved', decision: 'approve' });
});
