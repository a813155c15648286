// Calls that the models of tests make.

export const pay = (to: string, more: object = {}) => ({ name: 'bank__pay', arguments: { to, amount: 5, ...more } });
