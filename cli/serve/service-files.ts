// The files that make `blockhouse serve` a service of one user: a systemd unit and a launchd agent. Pure: no I/O.

/** The name of the service, for systemd and for launchd. */
export const SERVICE = 'blockhouse';

/** The command line of the server: absolute paths, so that it does not depend on the environment of a login. */
export type ServerCommandLine = readonly [node: string, script: string, ...args: string[]];

/** Longer than the server takes to end (`BLOCKHOUSE_DRAIN_MS` and the replies of blocks). */
const STOP_SECONDS = 20;
/** A pause before the next start, so that a port that another process holds does not make a busy loop. */
const RESTART_SECONDS = 5;
/** The exit code of a setting that is wrong: another start would fail in the same way. */
const WRONG_SETTING = 2;

/** A systemd user unit that runs `command`, and starts it again after a failure. */
export function systemdUnit([node, ...args]: ServerCommandLine): string {
  return `# Written by \`blockhouse service install\`; \`blockhouse service uninstall\` removes it.
# Put your own settings into a drop-in: systemctl --user edit ${SERVICE}
[Unit]
Description=Blockhouse: LLM agents in plain files, and one gateway to five providers

[Service]
ExecStart=${[unitWord(node), ...args.map((arg) => unitWord(arg).replaceAll('$', '$$$$'))].join(' ')}
Restart=on-failure
RestartSec=${RESTART_SECONDS}
RestartPreventExitStatus=${WRONG_SETTING}
TimeoutStopSec=${STOP_SECONDS}
UMask=0077

[Install]
WantedBy=default.target
`;
}

/** One quoted word of ExecStart. systemd also expands \`$\` in all words but the first. */
function unitWord(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('%', '%%');
  return `"${escaped}"`;
}

/** A launchd agent that runs `command`, writes its log to `logFile`, and starts it again after a failure. */
export function launchdAgent(command: ServerCommandLine, logFile: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<!-- Written by "blockhouse service install"; "blockhouse service uninstall" removes it. -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${SERVICE}</string>
  <key>ProgramArguments</key>
  <array>
${command.map((word) => `    <string>${xmlText(word)}</string>`).join('\n')}
  </array>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>${RESTART_SECONDS}</integer>
  <key>ExitTimeOut</key>
  <integer>${STOP_SECONDS}</integer>
  <key>Umask</key>
  <integer>${0o077}</integer>
  <key>StandardOutPath</key>
  <string>${xmlText(logFile)}</string>
  <key>StandardErrorPath</key>
  <string>${xmlText(logFile)}</string>
</dict>
</plist>
`;
}

function xmlText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
