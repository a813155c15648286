// The scripts of `blockhouse completion`. They only define a function that asks `blockhouse __complete` (completion.ts), so that they never
// grow stale. Each is run in its shell by a test. Pure: no I/O.

/** The shells that have a script. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** A shell that has a script. */
export type Shell = (typeof SHELLS)[number];

/** The hidden command of the scripts: `__complete <shell> <word> …`, where the last word is the one before the cursor. */
export const COMPLETE_COMMAND = '__complete';

/** The only line of the answer where a path belongs, which the shell completes itself. */
export const PATH_WANTED = ':path';

/** True for a shell that has a script. */
export function isShell(text: string): text is Shell {
  return SHELLS.some((shell) => shell === text);
}

// Works in bash 3.2, too: no mapfile, and its missing compopt stays silent.
const BASH = `# Completion of blockhouse for bash.
_blockhouse() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == ${PATH_WANTED} ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}")
      return
    fi
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <("$1" ${COMPLETE_COMMAND} bash "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null </dev/null)
}
complete -F _blockhouse blockhouse
`;

const ZSH = `# Completion of blockhouse for zsh.
_blockhouse() {
  local line
  local -a lines described
  lines=("\${(@f)$("\${words[1]}" ${COMPLETE_COMMAND} zsh "\${(@)words[2,CURRENT]}" 2>/dev/null </dev/null)}")
  if [[ \${lines[1]} == ${PATH_WANTED} ]]; then
    _files
    return
  fi
  for line in "\${lines[@]}"; do
    [[ -n $line ]] && described+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  (( \${#described} )) && _describe 'blockhouse' described
}
(( \${+functions[compdef]} )) || { autoload -Uz compinit && compinit }
compdef _blockhouse blockhouse
`;

const FISH = `# Completion of blockhouse for fish.
function __blockhouse_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l lines ($words[1] ${COMPLETE_COMMAND} fish $words[2..-1] 2>/dev/null </dev/null)
    if test "$lines[1]" = ${PATH_WANTED}
        __fish_complete_path (string unescape -- (commandline -ct))
    else
        string join -- \\n $lines
    end
end
complete -c blockhouse -f -a '(__blockhouse_complete)'
`;

/** The script of each shell. */
export const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
