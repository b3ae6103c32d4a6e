import { anyCommand, type Entry, valueCases, type Word } from './entries.js';

/** Write the completion script for zsh, with descriptions. */
export function zshScript(entries: Entry[]): string {
  const values = valueCases(entries, (choices) =>
    choices.length > 0 ? `compadd -- ${choices.map(quoted).join(' ')}` : '_files',
  );
  const words = entries.map(
    ({ path, words, options }) => `    '${path}')
      words_of=(${words.map(described).join(' ')})
      options_of=(${options.map(described).join(' ')}) ;;`,
  );
  return `#compdef yardmaster
# Completion of yardmaster for zsh: source <(yardmaster completion zsh)
_yardmaster() {
  local command='' next word
  local -a words_of options_of
  for word in \${words[2,CURRENT-1]}; do
    next="\${command:+$command }$word"
    case "$next" in
      ${anyCommand(entries)}) command="$next" ;;
    esac
  done
  case "$command \${words[CURRENT-1]}" in
${values}
  esac
  case "$command" in
${words.join('\n')}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then
    _describe -o 'option' options_of
  elif (( \${#words_of} )); then
    _describe 'command' words_of
  else
    _files
  fi
}
compdef _yardmaster yardmaster
`;
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Write a word with its description, in the form that _describe expects. */
const described = ({ word, description }: Word) => quoted(`${word.replaceAll(':', '\\:')}:${description}`);
