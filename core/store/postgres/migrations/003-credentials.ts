// Which key of a connection a call has used, by its label, where the connection has several. Pure: no I/O.
export const CREDENTIALS = `
alter table bh.ledger add column credential text;
alter table bh.gateway_call add column credential text;
`;
