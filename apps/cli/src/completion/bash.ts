import type { Entry } from './entries.js';

/** Write the completion for bash. It works in bash 3.2, which macOS has. */
export function bashScript(entries: Entry[]): string {
  const commands = entries.filter(({ path }) => path !== '');
  const values = entries.flatMap(({ path, valued }) =>
    valued.map(({ spellings, choices }) => {
      const patterns = spellings.map((spelling) => `'${path} ${spelling}'`).join('|');
      // Without choices, bash completes the name of a file.
      return `    ${patterns}) COMPREPLY=(${choices.length > 0 ? compgen(choices) : ''}); return ;;`;
    }),
  );
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
      ${commands.map(({ path }) => `'${path}'`).join('|')}) command="$next" ;;
    esac
  done
  COMPREPLY=()
  case "$command $prev" in
${values.join('\n')}
  esac
  case "$command" in
${words.join('\n')}
  esac
}
complete -o default -F _yardmaster yardmaster
`;
}

const compgen = (words: string[]) => `$(compgen -W '${words.join(' ')}' -- "$cur")`;
