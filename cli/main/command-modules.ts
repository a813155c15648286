// The modules of the commands, each loaded only when one of its commands runs, in the order of the overview. `npm run generate` writes what the
// overview shows of them into command-index.ts.
import type { BaseContext, CommandClass } from 'clipanion';

/** Loads the commands of one module. */
type Load = () => Promise<readonly CommandClass<BaseContext>[]>;

/** The loaders by the name of the module in commands/. */
export const COMMAND_MODULES = {
  serve: () => import('../commands/serve.ts').then((m) => [m.ServeCommand]),
  demo: () => import('../commands/demo.ts').then((m) => [m.DemoCommand]),
  status: () => import('../commands/status.ts').then((m) => [m.StatusCommand]),
  service: () => import('../commands/service.ts').then((m) => [m.ServiceInstallCommand, m.ServiceUninstallCommand, m.ServiceStatusCommand]),
  open: () => import('../commands/open.ts').then((m) => [m.OpenCommand]),
  token: () => import('../commands/token.ts').then((m) => [m.TokenCommand]),
  blocks: () => import('../commands/blocks.ts').then((m) => [m.ListCommand, m.NewCommand, m.ShowCommand, m.WhyCommand]),
  monitor: () => import('../commands/monitor.ts').then((m) => [m.StartCommand, m.StopCommand, m.RestartCommand, m.ResetCommand]),
  config: () => import('../commands/config.ts').then((m) => [m.ConfigGetCommand, m.ConfigSetCommand, m.ConfigEditCommand]),
  memory: () => import('../commands/memory.ts').then((m) => [m.MemoryCommand]),
  approvals: () => import('../commands/approvals.ts').then((m) => [m.ApprovalsCommand, m.ApproveCommand, m.DenyCommand, m.RunCommand]),
  schedule: () =>
    import('../commands/schedule.ts').then((m) => [
      m.ScheduleListCommand,
      m.ScheduleAddCommand,
      m.ScheduleRemoveCommand,
      m.SchedulePauseCommand,
      m.ScheduleResumeCommand,
      m.ScheduleRunCommand,
    ]),
  hook: () => import('../commands/hook.ts').then((m) => [m.HookListCommand, m.HookNewCommand, m.HookRemoveCommand]),
  'tools-ls': () => import('../commands/tools-ls.ts').then((m) => [m.ToolsListCommand]),
  tools: () => import('../commands/tools.ts').then((m) => [m.ToolsAddCommand, m.ToolsDiffCommand, m.ToolsApproveCommand, m.ToolsRemoveCommand]),
  'tools-test': () => import('../commands/tools-test.ts').then((m) => [m.ToolsTestCommand]),
  skills: () => import('../commands/skills.ts').then((m) => [m.SkillsListCommand, m.SkillsDiffCommand, m.SkillsApproveCommand]),
  'tools-login': () => import('../commands/tools-login.ts').then((m) => [m.ToolsLoginCommand, m.ToolsLogoutCommand]),
  'tools-secret': () => import('../commands/tools-secret.ts').then((m) => [m.ToolsSecretCommand, m.ToolsSecretListCommand]),
  'tools-import': () => import('../commands/tools-import.ts').then((m) => [m.ToolsImportCommand]),
  notify: () => import('../commands/notify.ts').then((m) => [m.NotifyListCommand, m.NotifySetCommand, m.NotifyTestCommand, m.NotifyRemoveCommand]),
  costs: () => import('../commands/costs.ts').then((m) => [m.CostsCommand]),
  logs: () => import('../commands/logs.ts').then((m) => [m.LogsCommand]),
  send: () => import('../commands/send.ts').then((m) => [m.SendCommand, m.QueueCommand]),
  again: () => import('../commands/again.ts').then((m) => [m.AgainCommand]),
  history: () => import('../commands/history.ts').then((m) => [m.HistoryCommand]),
  search: () => import('../commands/search.ts').then((m) => [m.SearchCommand]),
  attach: () => import('../commands/attach.ts').then((m) => [m.AttachCommand]),
  archive: () => import('../commands/archive.ts').then((m) => [m.RenameCommand, m.RemoveCommand, m.ArchiveListCommand, m.RestoreCommand, m.PurgeCommand]),
  transfer: () => import('../commands/transfer.ts').then((m) => [m.ExportCommand, m.ImportCommand]),
  workspace: () => import('../commands/workspace.ts').then((m) => [m.DoctorCommand, m.NodesCommand, m.HaltCommand, m.UnhaltCommand]),
  migrate: () => import('../commands/migrate.ts').then((m) => [m.MigrateCommand]),
  copy: () => import('../commands/copy.ts').then((m) => [m.CopyCommand]),
  chat: () => import('../commands/chat.ts').then((m) => [m.ChatCommand]),
  adapters: () => import('../commands/adapters.ts').then((m) => [m.AdaptersCommand, m.ModelsCommand, m.VerifyCommand]),
  auth: () => import('../commands/auth.ts').then((m) => [m.AuthSetCommand, m.AuthListCommand, m.AuthRemoveCommand, m.AuthPresetsCommand, m.AuthDetectCommand]),
  prices: () => import('../commands/prices.ts').then((m) => [m.PricesShowCommand, m.PricesSetCommand, m.PricesRemoveCommand, m.PricesUpdateCommand]),
  launch: () => import('../commands/launch.ts').then((m) => [m.LaunchCommand]),
  mcp: () => import('../commands/mcp.ts').then((m) => [m.McpCommand]),
  key: () => import('../commands/key.ts').then((m) => [m.KeyNewCommand, m.KeySetCommand, m.KeyListCommand, m.KeyDebugCommand, m.KeyRemoveCommand]),
  'key-group': () => import('../commands/key-group.ts').then((m) => [m.KeyGroupSetCommand, m.KeyGroupListCommand, m.KeyGroupRemoveCommand]),
  alias: () => import('../commands/alias.ts').then((m) => [m.AliasSetCommand, m.AliasListCommand, m.AliasRemoveCommand, m.AliasDefaultCommand]),
  groups: () => import('../commands/groups.ts').then((m) => [m.ServiceCommand, m.ConfigCommand]),
  completion: () => import('../commands/completion.ts').then((m) => [m.CompletionCommand]),
  version: () => import('../commands/version.ts').then((m) => [m.VersionCommand]),
} as const satisfies Record<string, Load>;

/** The name of a module of commands. */
export type CommandModule = keyof typeof COMMAND_MODULES;

/** What the overview and the choice of a module need to know of a command. */
export interface IndexEntry {
  readonly module: CommandModule;
  /** The words that call it; the first is the one that is shown. */
  readonly paths: readonly (readonly string[])[];
  /** Absent for a command that the overview leaves out. */
  readonly category?: string;
  readonly description?: string;
}

/** All commands, in the order of the overview. */
export async function allCommands(): Promise<CommandClass<BaseContext>[]> {
  return (await Promise.all(Object.values(COMMAND_MODULES).map((load) => load()))).flat();
}

/** The index as the commands themselves give it. */
export async function describeCommands(): Promise<IndexEntry[]> {
  const entries = await Promise.all(
    Object.entries(COMMAND_MODULES).map(async ([module, load]) =>
      (await load()).map(({ paths = [], usage }): IndexEntry => {
        const { category, description } = usage ?? {};
        return { module: module as CommandModule, paths, ...(category !== undefined && { category }), ...(description !== undefined && { description }) };
      }),
    ),
  );
  return entries.flat();
}
