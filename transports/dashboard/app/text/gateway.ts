// Words of gateway.
export {};
