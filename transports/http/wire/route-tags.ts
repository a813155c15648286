// The groups of operations in the published contract. Pure: no I/O.

const TAGS = {
  Gateway: 'One request shape for the models of all providers. The stable, versioned interface.',
  Compatible: 'The protocols of other providers, for the clients that speak them. Requests, answers and errors have their forms.',
  Clients: 'The clients of the gateway: their keys, and what the model names mean that they send.',
  Blocks: 'Named agents that answer messages: their life, configuration and logs.',
  Chat: 'The messages of a block and their answers.',
  Memory: 'What a block remembers besides its messages.',
  Schedules: 'Messages that a block gets at certain times.',
  Hooks: 'Doors of a block for other programs, whose signed deliveries become messages.',
  Notifications: 'What people are told of, where, and the links that decide about a call.',
  MCP: 'The door of other agents: Blockhouse as a server of the Model Context Protocol.',
  Tools: 'The servers whose tools blocks may call, and what a person has approved of them.',
  Approvals: 'Calls of tools that wait for people.',
  Archive: 'Archived blocks, until they are restored or deleted for good.',
  Workspace: 'Costs, checks and the kill switch of the whole workspace.',
  Server: 'Health, token and settings of the server, and the published contracts.',
} as const;

/** The group of a route. */
export type TagName = keyof typeof TAGS;

/** The tags of the document, in the order in which readers see them. */
export const tags = () => Object.entries(TAGS).map(([name, description]) => ({ name, description }));
