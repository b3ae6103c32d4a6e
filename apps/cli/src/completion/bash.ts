import { anyCommand, type Entry, valueCases } from './entries.js';

/** Write the completion script for bash. It works in bash 3.2, the version on macOS. */
export function bashScript(entries: Entry[]): string {
  // Without choices, bash completes file names.
  const values = valueCases(entries, (choices) => `COMPREPLY=(${choices.length > 0 ? compgen(choices) : ''})`);
  const words = entries.map(
    ({ path, words, options }) =>
      `    '${path}') COMPREPLY=(${compgen([...words, ...options].map(({ word }) => word))}) ;;`,
  );
  return `# Completion of yardmaster for bash: source <(yardmaster completion bash)
_yardmaster() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD - 1]}" command='' next i
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="\${command:+$command }\${COMP_WORDS[i]}"
    case "$next" in
      ${anyCommand(entries)}) command="$next" ;;
    esac
  done
  COMPREPLY=()
  case "$command $prev" in
${values}
  esac
  case "$command" in
${words.join('\n')}
  esac
}
complete -o default -F _yardmaster yardmaster
`;
}

const compgen = (words: string[]) => `$(compgen -W '${words.join(' ')}' -- "$cur")`;
